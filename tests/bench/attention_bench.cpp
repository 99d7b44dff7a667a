/// Compares attention alone, forward and backward, in two configurations within one run. The first is `ranks`
/// ranks of one thread each, with zigzag over Gloo on 127.0.0.1. The second is one rank with as many threads,
/// but at most one per core. Heads and head_dim are those of tests/bench/whole_step.py.
///
///   attention_bench [--tokens 8192] [--ranks 2] [--dtype float32|bfloat16] [--rounds 3] [--json FILE]
///
/// The two configurations take turns, and the fastest round of each counts. Prints seconds, GFLOP/s (2 · 7
/// matrix products of half the square) and their ratio, which is 1 if splitting costs nothing.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "engine/attention/sharded_attention.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

constexpr int64_t kQueryHeads = 8, kKeyHeads = 4, kHeadDim = 64;

struct Settings {
    int64_t tokens = 8192;
    int ranks = 2;
    at::ScalarType dtype = at::kFloat;
    int rounds = 3;
};

struct Taken {
    double wall_s = 1e9;  ///< forward and backward of the slowest rank
    double cpu_s = 1e9;   ///< sum over all ranks; less disturbed by other programs than wall time

    void keep_best(const Taken& other) {
        wall_s = std::min(wall_s, other.wall_s);
        cpu_s = std::min(cpu_s, other.cpu_s);
    }
};

double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

Taken measure(const Settings& settings, int ranks, int threads) {
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, settings.tokens, ranks, 1);
    std::vector<double> taken(static_cast<size_t>(ranks));
    double cpu_s = 0;
    run_ranks(ring_mesh(ranks), [&](int rank, Groups& groups) {
        at::set_num_threads(threads);
        const int64_t tokens = settings.tokens / ranks;
        const auto random = [&](int64_t heads) {
            return at::randn({1, tokens, heads, kHeadDim}).to(settings.dtype);
        };
        const at::Tensor q = random(kQueryHeads), k = random(kKeyHeads), v = random(kKeyHeads);
        const at::Tensor dout = random(kQueryHeads);
        ShardedAttention attention(groups, layout);
        groups.world().barrier();
        const auto start = std::chrono::steady_clock::now();
        const double cpu_start = cpu_seconds();
        const AttentionOutput output = attention.forward(q, k, v);
        attention.backward(dout, q, k, v, output);
        taken[static_cast<size_t>(rank)] =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        groups.world().barrier();
        if (rank == 0) cpu_s = cpu_seconds() - cpu_start;
    });
    return {*std::max_element(taken.begin(), taken.end()), cpu_s};
}

double load_average() {
    double load = 0;
    std::ifstream("/proc/loadavg") >> load;
    return load;
}

Settings settings_of(std::map<std::string, std::string> words) {
    Settings settings;
    const auto number = [&](const char* name, int64_t otherwise) {
        return words.contains(name) ? std::stoll(words[name]) : otherwise;
    };
    settings.tokens = number("--tokens", settings.tokens);
    settings.ranks = static_cast<int>(number("--ranks", settings.ranks));
    settings.rounds = static_cast<int>(number("--rounds", settings.rounds));
    if (words["--dtype"] == "bfloat16") settings.dtype = at::kBFloat16;
    return settings;
}

int run(std::map<std::string, std::string> words) {
    const Settings settings = settings_of(words);
    const int threads = std::min(settings.ranks, static_cast<int>(std::thread::hardware_concurrency()));
    Taken whole, split;
    for (int round = 0; round < settings.rounds; ++round) {
        whole.keep_best(measure(settings, 1, threads));
        split.keep_best(measure(settings, settings.ranks, 1));
        std::printf(
            "best after round %d: one rank %.3f s (CPU %.3f), %d ranks %.3f s (CPU %.3f), load %.2f\n",
            round + 1, whole.wall_s, whole.cpu_s, settings.ranks, split.wall_s, split.cpu_s, load_average());
        std::fflush(stdout);
    }
    const double t = double(settings.tokens);
    const double work = 2.0 * 7 * t * t / 2 * kQueryHeads * kHeadDim / 1e9;
    std::printf("%s, %lld tokens: %.0f GFLOP/s on one rank, %.0f on %d; %.3fx (by CPU time %.3fx)\n",
                settings.dtype == at::kFloat ? "float32" : "bfloat16",
                static_cast<long long>(settings.tokens), work / whole.wall_s, work / split.wall_s,
                settings.ranks, whole.wall_s / split.wall_s, whole.cpu_s / split.cpu_s);
    if (words.contains("--json")) {
        std::ofstream(words["--json"])
            << "{\"one_rank_s\": " << whole.wall_s << ", \"split_s\": " << split.wall_s
            << ", \"ratio\": " << whole.wall_s / split.wall_s
            << ", \"cpu_ratio\": " << whole.cpu_s / split.cpu_s << "}\n";
    }
    return 0;
}

}  // namespace
}  // namespace ringmaster

int main(int count, char** words) {
    std::map<std::string, std::string> named;
    for (int i = 1; i + 1 < count; i += 2) named[words[i]] = words[i + 1];
    return ringmaster::run(named);
}
