// Measures how fast prepared rows are shown. `gui_data_bench [FOLDER]` writes 10 million rows of 40 tokens
// and a million rows of 200 tokens to FOLDER (by default to a temporary folder), and prints its figures with
// their limits. Exits with status 1 if a figure is above its limit. Needs 5 GB on the disk.
#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <random>

#include "engine/files/safetensors.h"
#include "gui/data/row_list.h"
#include "launcher/rows/row_search.h"
#include "tests/gui/bench.h"

using namespace ringmaster;
namespace fs = std::filesystem;

namespace {

constexpr int kLetters = 26, kFirstLetter = 2;
constexpr int kFrames = 2000;

/// Writes a tokenizer in which tokens 0 and 1 are special, and tokens 2 to 27 are the letters a to z.
void write_tokenizer(const fs::path& file) {
    QByteArray vocabulary;
    for (int letter = 0; letter < kLetters; ++letter)
        vocabulary += (letter ? ",\"" : "\"") + QByteArray(1, char('a' + letter)) +
                      "\":" + QByteArray::number(letter + kFirstLetter);
    const QByteArray text = R"({"model":{"type":"BPE","vocab":{)" + vocabulary +
                            R"(}},"decoder":{"type":"ByteLevel"},"added_tokens":[{"id":0,"content":"<s>",)"
                            R"("special":true},{"id":1,"content":"</s>","special":true}]})";
    std::FILE* out = std::fopen(file.c_str(), "wb");
    std::fwrite(text.data(), 1, size_t(text.size()), out);
    std::fclose(out);
}

void write_tokens(const fs::path& file, int64_t rows, int64_t tokens) {
    if (fs::exists(file)) return;
    SafetensorsWriter writer(file, {{"input_ids", "I32", {rows * tokens}},
                                    {"labels", "I32", {rows * tokens}},
                                    {"row_offsets", "I64", {rows + 1}}});
    std::mt19937 random(1);
    std::vector<int32_t> some(size_t(tokens) * 10'000);
    for (const bool labels : {false, true}) {
        for (int64_t row = 0; row < rows; row += 10'000) {
            for (size_t at = 0; at < some.size(); ++at)
                some[at] = labels && int64_t(at) % tokens < tokens / 3
                               ? -100
                               : kFirstLetter + int32_t(random() % kLetters);
            writer.write(some.data(), some.size() * sizeof(int32_t));
        }
    }
    for (int64_t row = 0; row <= rows; ++row) {
        const int64_t offset = row * tokens;
        writer.write(&offset, sizeof offset);
    }
    writer.finish();
}

RowsToShow prepared(const fs::path& folder, const char* name, int64_t rows, int64_t tokens) {
    write_tokenizer(folder / "tokenizer.json");
    write_tokens(folder / name, rows, tokens);
    RowsToShow made;
    made.plan.batch.global = 8;
    made.plan.batch.micro = 1;
    made.plan.config.sequence_len = tokens;
    made.rows.data.tokens = (folder / name).string();
    made.text = TokenText::read(folder);
    return made;
}

double seconds(const QElapsedTimer& clock) {
    return double(clock.nsecsElapsed()) * 1e-9;
}

/// Holds the wall-clock time and the processor time of each frame in milliseconds, each list sorted.
struct Frames {
    std::vector<double> wall_ms, processor_ms;
};

/// Scrolls with the wheel and in jumps, and returns the times of the frames.
Frames scroll(RowList& list) {
    std::mt19937 random(2);
    Frames frames;
    QScrollBar* bar = list.verticalScrollBar();
    const QPointF middle = list.viewport()->rect().center();
    for (int frame = 0; frame < kFrames; ++frame) {
        const double before = processor_s();
        QElapsedTimer clock;
        clock.start();
        if (frame % 4 == 0) {
            bar->setValue(int(random() % unsigned(std::max(1, bar->maximum()))));
        } else {
            QWheelEvent wheel(middle, list.viewport()->mapToGlobal(middle), {}, {0, -120}, Qt::NoButton,
                              Qt::NoModifier, Qt::NoScrollPhase, false);
            QApplication::sendEvent(list.viewport(), &wheel);
        }
        list.viewport()->repaint();
        frames.wall_ms.push_back(seconds(clock) * 1e3);
        frames.processor_ms.push_back((processor_s() - before) * 1e3);
    }
    std::sort(frames.wall_ms.begin(), frames.wall_ms.end());
    std::sort(frames.processor_ms.begin(), frames.processor_ms.end());
    return frames;
}

}  // namespace

int main(int argc, char** argv) {
    const Bench bench(argc, argv, Appearance::Light);
    const fs::path& folder = bench.folder();
    RowList list;
    list.resize(1100, 800);
    list.show();
    if (!QTest::qWaitForWindowExposed(&list)) return 2;

    RowsToShow many = prepared(folder, "many.safetensors", 10'000'000, 40);
    QElapsedTimer clock;
    clock.start();
    const auto rows = std::make_shared<const OpenRows>(std::move(many));
    list.setRows(rows);
    list.viewport()->repaint();
    say("10 million rows of 40 tokens: first rows", seconds(clock), "s", 0.3);
    if (list.count() != 10'000'000) return 2;
    const Frames frames = scroll(list);
    const size_t late = size_t(kFrames) * 99 / 100;
    say("10 million rows scrolled: 99th percentile of a frame", frames.wall_ms[late], "ms", 16);
    say("the same, of the processor", frames.processor_ms[late], "ms", 16);

    const OpenRows long_rows(prepared(folder, "long.safetensors", 1'000'000, 200));
    clock.restart();
    const double before = processor_s(CLOCK_PROCESS_CPUTIME_ID);
    const std::vector<int64_t> found = find_rows(long_rows.rows, "not in any row", 1000);
    say("1 million rows of 200 tokens searched", seconds(clock), "s", 2);
    std::printf("%-58s %9.3f s\n", "the same, of all processors",
                processor_s(CLOCK_PROCESS_CPUTIME_ID) - before);
    if (!found.empty() || find_rows(long_rows.rows, "abc", 10).size() != 10) return 2;
    return missed ? 1 : 0;
}
