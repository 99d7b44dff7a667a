#include "engine/commands/generate_command.h"

#include <ATen/ATen.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/comm/backends.h"
#include "engine/commands/json_command.h"
#include "engine/error.h"
#include "engine/model/lora.h"
#include "engine/sample/request.h"

namespace ringmaster {

namespace {

using nlohmann::json;

/// A model whose weights do not change.
class LoadedModel {
  public:
    LoadedModel(const Config& config, at::Device device)
        : model_(config_or_refuse(config)),
          weights_(model_, config.precision, device, {}, Parameters::Use::Frozen, config.quantization) {
        if (config.quantization.on())
            quantized_.emplace(model_, config.quantization, weights_.compute_dtype(), device);
        if (config.lora.on()) adapter_.emplace(model_, config.lora, config.precision, device);
        load(config);
        if (adapter_) adapter_->parameters().load(config.lora.model_dir);
        decoder_.emplace(model_, weights_, Kept{}, adapter_ ? &*adapter_ : nullptr,
                         quantized_ ? &*quantized_ : nullptr);
    }

    const ModelConfig& model() const { return model_; }
    at::ScalarType dtype() const { return weights_.compute_dtype(); }
    Decoder& decoder() { return *decoder_; }

  private:
    void load(const Config& config) {
        if (!config.reinit_weights) {
            weights_.load(config.model_dir);
            if (quantized_) quantized_->load(config.model_dir);
        } else if (!quantized_) {
            weights_.initialize(model_, config.seed);
        } else {
            throw Error(Failure::Refused, Code("ENGINE-MODEL"),
                        "random quantized weights cannot be made again", "reinit_weights");
        }
    }

    static ModelConfig config_or_refuse(const Config& config) {
        ModelConfig model = read_model_config(config.model_dir);
        if (model.has_recurrent_layers())
            throw Error(Failure::Refused, Code("ENGINE-MODEL"),
                        "text is not generated here by a model whose layers pass a state from token to token",
                        config.model_dir);
        if (model.trainable()) return model;
        throw Error(Failure::Refused, Code("ENGINE-MODEL"),
                    "the engine does not compute " + model.obstacles.front(), config.model_dir);
    }

    const ModelConfig model_;
    Parameters weights_;
    std::optional<QuantizedBase> quantized_;
    std::optional<Adapter> adapter_;
    std::optional<Decoder> decoder_;
};

at::Device device_of(const json& read) {
    if (read.value("device", "cpu") != "cuda") return at::kCPU;
    load_cuda(0);
    return at::Device(at::kCUDA, 0);
}

void print_completion(const std::string& name, size_t prompt, const Completion& completion,
                      const TokenTexts& texts) {
    print_line({{"type", "completion"},
                {"model", name},
                {"prompt", prompt},
                {"ids", completion.ids},
                {"log_probabilities", completion.log_probabilities},
                {"text", texts.text_of(completion.ids)},
                {"stopped", completion.stopped}});
}

void generate_by(const std::string& name, LoadedModel& loaded, const GenerationRequest& request,
                 at::Device device) {
    check_prompts(loaded.model(), request.prompts, request.generation);
    std::vector<TextStream> streams(request.prompts.size());
    int64_t tokens = 0;
    const auto start = std::chrono::steady_clock::now();
    RankProgress progress;
    const auto print_token = [&](size_t prompt, const ChosenToken& token) {
        ++tokens;
        print_line({{"type", "token"},
                    {"model", name},
                    {"prompt", prompt},
                    {"id", token.id},
                    {"log_probability", token.log_probability},
                    {"text", streams[prompt].add(request.texts.bytes_of(token.id))}});
        return true;
    };
    const std::vector<Completion> completions =
        generate(loaded.decoder(), loaded.model(), loaded.dtype(), device, request.prompts,
                 request.generation, progress, print_token);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    for (size_t i = 0; i < completions.size(); ++i) print_completion(name, i, completions[i], request.texts);
    print_line({{"type", "generated"}, {"model", name}, {"tokens", tokens}, {"seconds", seconds.count()}});
}

}  // namespace

namespace {

int generate_all(const std::string& request_file) {
    const at::NoGradGuard no_grad;
    std::ifstream file(request_file);
    if (!file) throw Error(Failure::Usage, Code("FILE-MISSING"), "cannot be read", request_file);
    const json read = json::parse(file);
    const GenerationRequest request = generation_request(read);
    const at::Device device = device_of(read);
    for (const json& model : read.at("models")) {
        LoadedModel loaded(config_from_json(model.at("config")), device);
        generate_by(model.at("name"), loaded, request, device);
    }
    return 0;
}

/// Prints an error with its parts, for the launcher.
int print_error(const Error& error) {
    const int status = static_cast<int>(error.failure);
    print_line({{"type", "error"},
                {"code", error.code},
                {"message", error.what()},
                {"where", error.where},
                {"hint", error.hint},
                {"exit", status}});
    return status;
}

}  // namespace

int run_generate(const std::string& request_file) {
    return exit_status_of([&] {
        try {
            return generate_all(request_file);
        } catch (const Error& error) {
            return print_error(error);
        }
    });
}

}  // namespace ringmaster
