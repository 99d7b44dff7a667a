/// Compares the time of an AdamW update with quantized states and with float32 states. Both get the same
/// gradients, on one rank with all cores. They take turns, and the fastest round of each counts.
///
///   optimizer_bench [--mib 512] [--rounds 7] [--require 1.5] [--json FILE]
///
/// --mib is the size of the weights. The exit status is 1 if adamw_bnb_8bit takes more than --require times
/// as long as adamw_torch.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/optimizers/optimizer.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

struct Updated {
    const char* name;
    std::unique_ptr<Parameters> parameters = {};
    std::unique_ptr<Optimizer> optimizer = {};
    double best_s = 1e9;
};

ModelConfig model_of(int64_t mib) {
    ModelConfig model = tiny_model();
    model.num_layers = 1;
    model.hidden_size = 1024;
    model.head_dim = model.hidden_size / model.num_heads;
    model.vocab_size = (mib << 20) / 4 / model.hidden_size;
    model.tie_word_embeddings = true;
    return model;
}

nlohmann::ordered_json measure(int64_t mib, int rounds) {
    Updated updates[] = {{"adamw_torch"}, {"adamw_bnb_8bit"}, {"adamw_torch_8bit"}, {"adamw_torch_4bit"}};
    const ModelConfig model = model_of(mib);
    for (Updated& one : updates) {
        Config config;
        config.optimizer = one.name;
        one.parameters = std::make_unique<Parameters>(model, Precision::Float32, at::kCPU);
        one.parameters->initialize(model, 3);
        one.parameters->gradients().values.normal_(0, 1e-3);
        one.optimizer = make_optimizer(*one.parameters, config);
        one.optimizer->step(1e-5);
    }
    for (int round = 0; round < rounds; ++round) {
        for (Updated& one : updates) {
            const auto start = std::chrono::steady_clock::now();
            one.optimizer->step(1e-5);
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            one.best_s = std::min(one.best_s, taken.count());
        }
    }
    nlohmann::ordered_json report = {{"elements", updates[0].parameters->master().values.numel()}};
    for (const Updated& one : updates)
        report[one.name] = {{"s", one.best_s}, {"ratio", one.best_s / updates[0].best_s}};
    return report;
}

}  // namespace
}  // namespace ringmaster

int main(int argc, char** argv) {
    std::map<std::string, std::string> given = {{"--mib", "512"}, {"--rounds", "7"}, {"--require", "100"}};
    for (int i = 1; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
    const nlohmann::ordered_json report =
        ringmaster::measure(std::stol(given["--mib"]), std::stoi(given["--rounds"]));
    std::printf("%s\n", report.dump(2).c_str());
    if (given.contains("--json")) std::ofstream(given["--json"]) << report.dump(2) << "\n";
    return report["adamw_bnb_8bit"]["ratio"].get<double>() <= std::stod(given["--require"]) ? 0 : 1;
}
