// Implements `apply_optimizer SETTINGS.json FOLDER`: applies an optimizer to given gradients. FOLDER holds a
// model's config.json and model.safetensors, and gradients-1.safetensors …; the program writes
// states.safetensors and updated/model.safetensors. `apply_optimizer book BITS SIGNED` prints a code book.
#include <ATen/ATen.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/files/safetensors.h"
#include "engine/kernels/code_book.h"
#include "engine/optimizers/optimizer.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

Config config_of(const nlohmann::json& settings) {
    Config config;
    config.optimizer = settings.at("optimizer");
    config.weight_decay = settings.value("weight_decay", 0.0);
    config.adam_beta1 = settings.value("adam_beta1", config.adam_beta1);
    config.adam_beta2 = settings.value("adam_beta2", config.adam_beta2);
    config.adam_epsilon = settings.value("adam_epsilon", config.adam_epsilon);
    config.optim_args = settings.value("optim_args", nlohmann::json::object());
    config.learning_rate = settings.at("learning_rate");
    config.lr_groups = settings.value("lr_groups", nlohmann::json::array());
    config.warmup_steps = settings.value("warmup_steps", int64_t{0});
    if (settings.contains("embedding_lr")) config.embedding_lr = settings["embedding_lr"];
    if (settings.contains("embedding_lr_scale")) config.embedding_lr_scale = settings["embedding_lr_scale"];
    if (settings.contains("loraplus_lr_ratio")) config.loraplus_lr_ratio = settings["loraplus_lr_ratio"];
    config.unfrozen_parameters = settings.value("unfrozen_parameters", std::vector<std::string>());
    return config;
}

void read_gradients(Parameters& parameters, const fs::path& path) {
    const SafetensorsFile file(path);
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const auto values = file.elements<float>(parameters.shapes()[i].name, "F32");
        parameters.own_values(parameters.gradients(), i)
            .copy_(at::from_blob(const_cast<float*>(values.data()), {static_cast<int64_t>(values.size())}));
    }
}

void apply(const nlohmann::json& settings, const fs::path& dir) {
    const Config config = config_of(settings);
    const bool in_bf16 = settings.value("bf16", false);
    Parameters parameters(read_model_config(dir.string()), in_bf16 ? Precision::Bf16Full : Precision::Float32,
                          at::kCPU);
    parameters.load(dir.string());
    const auto optimizer = make_optimizer(parameters, config);
    for (int64_t step = 1; step <= settings.at("steps").get<int64_t>(); ++step) {
        read_gradients(parameters, dir / ("gradients-" + std::to_string(step) + ".safetensors"));
        optimizer->step(settings.at("learning_rate").get<double>());
    }
    optimizer->save(dir / "states.safetensors");
    optimizer->use_averaged_weights(settings.value("averaged", false));
    fs::create_directories(dir / "updated");
    save_weights(parameters, (dir / "updated").string(), parameters.master().values.scalar_type());
}

void print_book(int bits, bool is_signed) {
    const CodeBook& book = torchao_book(bits, is_signed);
    for (int code = 0; code < 1 << bits; ++code)
        std::printf("%a\n", double{book.values[static_cast<size_t>(code)]});
}

}  // namespace
}  // namespace ringmaster

int main(int count, char** argv) {
    try {
        if (count == 4) {
            ringmaster::print_book(std::atoi(argv[2]), argv[3][0] == '1');
            return 0;
        }
        std::ifstream file(argv[1]);
        ringmaster::apply(nlohmann::json::parse(file), argv[2]);
        return 0;
    } catch (const ringmaster::Error& problem) {
        std::fprintf(stderr, "%s\n", problem.text().c_str());
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
    }
    return 1;
}
