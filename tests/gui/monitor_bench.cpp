// Measures how fast the Monitor is. `gui_monitor_bench [FOLDER]` writes synthetic runs to FOLDER (by default
// to a temporary folder), and prints its figures with their limits. Exits with status 1 if a figure is above
// its limit.
#include <malloc.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTest>
#include <cstdio>
#include <thread>

#include "gui/monitor/monitor_page.h"
#include "tests/gui/bench.h"
#include "tests/gui/synthetic_run.h"

using namespace ringmaster;
namespace fs = std::filesystem;

namespace {

double resident_bytes() {
    malloc_trim(0);
    long pages = 0, resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return double(resident) * double(sysconf(_SC_PAGESIZE));
}

SyntheticRun run_of(const fs::path& dir, int64_t steps) {
    SyntheticRun run{dir, 64, steps};
    run.total_steps = steps;
    run.phase = RunPhase::Completed;
    run.slow_rank = 21;
    run.evaluates = false;
    if (!fs::exists(dir / "run.json")) write_synthetic_run(run);
    return run;
}

/// Returns the seconds until the first curve is drawn, and until everything is read and drawn.
std::pair<double, double> open_s(MonitorPage& page, const SyntheticRun& run) {
    QElapsedTimer clock;
    clock.start();
    double first = -1;
    page.openRun(QString::fromStdString(run.dir.string()));
    while (!page.settled() && clock.elapsed() < 300'000) {
        QTest::qWait(5);
        const auto& chart = page.chart(ChartKind::Loss)->plot()->chart();
        if (first < 0 && chart.x.size() > 1) {
            page.chart(ChartKind::Loss)->plot()->grab();
            first = double(clock.elapsed()) * 1e-3;
        }
    }
    return {first, double(clock.elapsed()) * 1e-3};
}

void repaint_ms(MonitorPage& page, const char* of) {
    for (int kind = 0; kind < kChartKinds; ++kind) {
        ChartCard* card = page.chart(ChartKind(kind));
        if (card == nullptr || card->visibleRegion().isEmpty()) continue;
        double least = 1e9;
        for (int round = 0; round < 5; ++round) {
            card->setData(ChartData(card->plot()->chart()));
            card->plot()->grab();
            least = std::min(least, card->plot()->lastPaint_ms());
        }
        const std::string what = std::string("repaint, ") + of + ": " + card->accessibleName().toStdString();
        say(what.c_str(), least, "ms", 25);
    }
}

void follow(MonitorPage& page, const fs::path& dir) {
    SyntheticRun run{dir, 64, 2000};
    run.evaluates = false;
    write_synthetic_run(run);
    open_s(page, run);
    std::atomic<bool> done = false;
    // The writer's time is measured on its own thread and subtracted.
    std::atomic<double> writer_s = 0;
    std::thread writer([&] {
        std::vector<std::unique_ptr<EventWriter>> events;
        for (int rank = 0; rank < run.ranks; ++rank)
            events.push_back(std::make_unique<EventWriter>(run.dir / "events", rank));
        for (int64_t step = 2001; !done; ++step) {
            for (int rank = 0; rank < run.ranks; ++rank)
                events[size_t(rank)]->write(synthetic_step(run, rank, step));
            writer_s = processor_s();
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    });
    QTest::qWait(1000);
    const double cpu = processor_s(CLOCK_PROCESS_CPUTIME_ID), own = writer_s;
    QElapsedTimer clock;
    clock.start();
    QTest::qWait(10'000);
    const double share =
        (processor_s(CLOCK_PROCESS_CPUTIME_ID) - cpu - (writer_s - own)) / (double(clock.elapsed()) * 1e-3);
    done = true;
    writer.join();
    say("cores used while following 64 ranks x 10 events/s", share, "cores", 0.5);
}

}  // namespace

int main(int argc, char** argv) {
    const Bench bench(argc, argv, Appearance::Dark);
    const fs::path& folder = bench.folder();
    Places places = find_places();
    places.runs_dir = folder;
    Session session(places);
    MonitorPage page(session);
    page.resize(1740, 1200);
    page.show();

    const double before = resident_bytes();
    const auto [first, whole] = open_s(page, run_of(folder / "64x10000", 10'000));
    say("64 ranks x 10,000 steps: first picture", first, "s", 3);
    say("64 ranks x 10,000 steps: whole", whole, "s", 3);
    repaint_ms(page, "64 ranks");
    std::printf("%-58s %9.1f MiB\n", "resident memory that it added", (resident_bytes() - before) / 1048576);

    const auto [early, all] = open_s(page, run_of(folder / "64x100000", 100'000));
    say("64 ranks x 100,000 steps: first picture", early, "s", 3);
    std::printf("%-58s %9.3f s\n", "64 ranks x 100,000 steps: whole", all);
    repaint_ms(page, "64 ranks x 100,000");
    RunHistory history(RunDirectory{folder / "64x10000"});
    while (!history.progress().whole() || history.events() == 0) history.read(std::chrono::seconds(1));
    say("memory of an event", double(history.bytes()) / double(history.ranks().size()) / 10'000, "bytes",
        100);
    SyntheticRun eight{folder / "8x10000", 8, 10'000};
    eight.phase = RunPhase::Completed;
    if (!fs::exists(eight.dir / "run.json")) write_synthetic_run(eight);
    open_s(page, eight);
    repaint_ms(page, "8 ranks");
    follow(page, folder / "live");
    return missed ? 1 : 0;
}
