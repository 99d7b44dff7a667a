#include <charconv>
#include <concepts>

#include "engine/error.h"
#include "engine/files/durable.h"
#include "launcher/export.h"
#include "launcher/files.h"
#include "launcher/recorded_run.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr const char* kHeader =
    "rank,t,step,epoch,loss,rank_loss,tokens,valid_tokens,rank_valid_tokens,lr,grad_norm,step_s,compute_s,"
    "comm_s,"
    "exposed_comm_s,comm_bytes,data_s,memory_bytes,peak_memory_bytes,tokens_per_s,"
    "position_sum,attention_cells\r\n";

/// Appends the shortest text that reads back as the same value in any locale.
template <class Number>
void append(std::string& row, Number value) {
    char text[32];
    const auto [end, problem] = std::to_chars(text, text + sizeof text, value);
    row.append(text, end);
    row += ',';
}

void append_row(std::string& text, int rank, const Timed<StepEvent>& step) {
    const StepEvent& e = step.event;
    append(text, rank);
    append(text, step.t);
    append(text, e.step);
    append(text, e.epoch);
    append(text, e.loss);
    if (e.rank_loss) {
        append(text, *e.rank_loss);
    } else {
        text += ',';
    }
    for (int64_t count : {e.tokens, e.valid_tokens, e.rank_valid_tokens}) append(text, count);
    for (double value : {e.lr, e.grad_norm, e.step_s, e.compute_s, e.comm_s, e.exposed_comm_s})
        append(text, value);
    append(text, e.comm_bytes);
    append(text, e.data_s);
    append(text, e.memory_bytes);
    append(text, e.peak_memory_bytes);
    append(text, e.tokens_per_s);
    append(text, e.position_sum);
    append(text, e.attention_cells);
    text.back() = '\r';
    text += '\n';
}

}  // namespace

Exported export_csv(const RunDirectory& run, const fs::path& file) {
    if (fs::is_directory(file))
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is a folder; a CSV is one file", file.string(),
                    "--to " + (file / (run.name() + ".csv")).string());
    const std::vector<int> ranks = recorded_ranks(run);
    if (!file.parent_path().empty()) make_folder(file.parent_path());
    constexpr size_t kFlushBytes = size_t{1} << 20;
    DurableFile target(file);
    Exported exported{file, static_cast<int64_t>(ranks.size()), 0};
    std::string text = kHeader;
    const auto flush = [&] {
        target.write(text.data(), text.size());
        text.clear();
    };
    for_each_step(run, ranks, [&](int rank, const Timed<StepEvent>& step) {
        append_row(text, rank, step);
        ++exported.points;
        if (text.size() > kFlushBytes) flush();
    });
    flush();
    target.appear();
    return exported;
}

}  // namespace ringmaster
