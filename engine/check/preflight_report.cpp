#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/check/preflight.h"
#include "engine/files/durable.h"

namespace ringmaster {

namespace {

using LayerError = PreflightReport::LayerError;

bool is_a_layer(const LayerError& error) {
    return error.layer.find_first_not_of("0123456789") == std::string::npos;
}

double worst_of(const std::vector<LayerError>& errors) {
    double worst = 0;
    for (const LayerError& error : errors) worst = std::max(worst, error.relative_error);
    return worst;
}

nlohmann::json errors_to_json(const std::vector<LayerError>& errors) {
    nlohmann::json json = nlohmann::json::array();
    for (const LayerError& error : errors) {
        json.push_back({{"layer", is_a_layer(error) ? nlohmann::json(std::stoi(error.layer))
                                                    : nlohmann::json(error.layer)},
                        {"relative_error", error.relative_error}});
        if (!error.tensor.empty()) json.back()["tensor"] = error.tensor;
    }
    return json;
}

/// Returns the FNV-1a hash (Fowler, Noll, Vo) of this program's file: another build counts as another engine.
std::string engine_checksum() {
    std::ifstream program("/proc/self/exe", std::ios::binary);
    uint64_t hash = 0xcbf29ce484222325;
    std::vector<char> part(size_t{1} << 20);
    while (program.read(part.data(), static_cast<std::streamsize>(part.size())), program.gcount() > 0) {
        for (std::streamsize i = 0; i < program.gcount(); ++i)
            hash = (hash ^ static_cast<unsigned char>(part[static_cast<size_t>(i)])) * 0x100000001b3;
    }
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

}  // namespace

std::string PreflightReport::summary() const {
    char head[160];
    std::snprintf(head, sizeof head,
                  "preflight of %s on %lld rows of up to %lld tokens in %.1f s: ", proved.c_str(),
                  static_cast<long long>(rows), static_cast<long long>(tokens), seconds);
    if (!failure.empty()) return head + ("failed: " + failure);
    if (!unproved.empty()) return head + ("nothing is proved: " + unproved);
    char tail[200];
    std::snprintf(tail, sizeof tail,
                  "passed, loss %.7g on the mesh and %.7g on one rank, gradients within %.1e (bound %.0e), "
                  "no leak between documents",
                  loss_mesh, loss_reference, worst_of(gradients), bound);
    std::string text = std::string(head) + tail;
    if (float32) {
        std::snprintf(tail, sizeof tail, "; in float32 gradients within %.1e (bound %.0e)", float32->worst,
                      float32->bound);
        text += tail;
    }
    if (!float32_left_out.empty()) text += "; not proved in float32: " + float32_left_out;
    return text;
}

nlohmann::json report_to_json(const PreflightReport& report) {
    nlohmann::json json = {{"ok", report.ok()},
                           {"loss", {{"reference", report.loss_reference}, {"mesh", report.loss_mesh}}},
                           {"grad_norm", {{"reference", report.norm_reference}, {"mesh", report.norm_mesh}}},
                           {"gradients", errors_to_json(report.gradients)},
                           {"attention", errors_to_json(report.attention)},
                           {"leak", report.leak},
                           {"seconds", report.seconds},
                           {"bound", report.bound},
                           {"rows", report.rows},
                           {"tokens", report.tokens},
                           {"proved", report.proved},
                           {"of", report.of},
                           {"failure", report.failure},
                           {"unproved", report.unproved}};
    if (report.float32)
        json["float32"] = {{"loss", report.float32->loss_mesh},
                           {"worst", report.float32->worst},
                           {"bound", report.float32->bound}};
    if (!report.float32_left_out.empty()) json["float32_left_out"] = report.float32_left_out;
    return json;
}

std::string proof_identity(const Plan& plan) {
    nlohmann::json config = config_to_json(plan.config);
    for (const char* key : {"file",
                            "base_dir",
                            "base_model",
                            "model_dir",
                            "tokenizer",
                            "reinit_weights",
                            "datasets",
                            "test_datasets",
                            "special_tokens",
                            "tokenization",
                            "dataset_prepared_path",
                            "val_set_size",
                            "seed",
                            "curriculum_sampling",
                            "excess_length",
                            "max_steps",
                            "num_epochs",
                            "learning_rate",
                            "lr_scheduler",
                            "warmup_steps",
                            "warmup_ratio",
                            "cosine_min_lr_ratio",
                            "output_dir",
                            "save_steps",
                            "saves_per_epoch",
                            "save_strategy",
                            "save_total_limit",
                            "eval_steps",
                            "evals_per_epoch",
                            "eval_strategy",
                            "eval_batch_size",
                            "logging_steps",
                            "ranks",
                            "nodes",
                            "ddp_timeout",
                            "accelerate_only",
                            "lines"})
        config.erase(key);
    const nlohmann::json identity = {
        {"config", config},
        {"model", plan.model ? model_config_to_json(*plan.model) : nlohmann::json()},
        {"mesh", {plan.mesh.dp_replicate, plan.mesh.dp_shard, plan.mesh.ring, plan.mesh.ulysses}},
        {"zero_stage", plan.zero_stage},
        {"layout", to_string(plan.context_parallel.layout)},
        {"heads_k_stride", plan.context_parallel.heads_k_stride},
        {"device", to_string(plan.device)},
        {"engine", engine_checksum()},
        {"libtorch", TORCH_VERSION}};
    return identity.dump();
}

bool passed_before(const std::filesystem::path& file, const Plan& plan) {
    std::ifstream in(file);
    const nlohmann::json report = nlohmann::json::parse(in, nullptr, false);
    return report.is_object() && report.contains("ok") && report["ok"] == true && report.contains("of") &&
           report["of"] == proof_identity(plan);
}

void write_report(const std::filesystem::path& file, const PreflightReport& report) {
    write_file_durably(file, report_to_json(report).dump(2) + "\n");
}

}  // namespace ringmaster
