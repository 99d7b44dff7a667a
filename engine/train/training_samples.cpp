#include "engine/train/training_samples.h"

#include <ATen/ATen.h>

#include <fstream>

#include "engine/error.h"
#include "engine/files/text_file.h"
#include "engine/train/run_log.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

std::unique_ptr<TrainingSamples> TrainingSamples::of_run(const fs::path& run_dir, const ModelConfig& model,
                                                         double divided_by) {
    const fs::path request = run_dir / "samples.json";
    if (!fs::exists(request)) return nullptr;
    std::ifstream file(request);
    const json read = json::parse(file, nullptr, /*allow_exceptions=*/false);
    return std::make_unique<TrainingSamples>(run_dir, read, model, divided_by);
}

namespace {

constexpr const char* kWanted = "samples_wanted.json";
constexpr int64_t kLongestRequest = 1 << 22;  ///< bytes

GenerationRequest checked_request(const json& read) {
    try {
        return generation_request(read);
    } catch (const json::exception&) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is no request for samples", "samples.json",
                    "prepare the run again");
    }
}

}  // namespace

bool samples_are_wanted(const fs::path& run_dir) {
    std::error_code none;
    return fs::exists(run_dir / kWanted, none);
}

json take_wanted_samples(const fs::path& run_dir, Groups& groups) {
    std::string text;
    if (groups.rank() == 0) {
        std::error_code none;
        const auto bytes = static_cast<int64_t>(fs::file_size(run_dir / kWanted, none));
        if (!none && bytes <= kLongestRequest) text = readable_text(run_dir / kWanted);
        fs::remove(run_dir / kWanted, none);
    }
    at::Tensor size = at::full({1}, static_cast<int64_t>(text.size()), at::kLong).to(groups.device());
    groups.world().broadcast(size, 0).wait();
    text.resize(static_cast<size_t>(size.item<int64_t>()));
    if (text.empty()) return nullptr;
    at::Tensor bytes = at::from_blob(text.data(), {size.item<int64_t>()}, at::kByte).to(groups.device());
    groups.world().broadcast(bytes, 0).wait();
    bytes = bytes.cpu();
    text.assign(static_cast<const char*>(bytes.const_data_ptr()), text.size());
    return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

TrainingSamples::TrainingSamples(const fs::path& run_dir, const json& read, const ModelConfig& model,
                                 double divided_by, int64_t first_number)
    : file_(run_dir / "samples.jsonl"),
      model_(model),
      asked_(read.is_object() ? read.value("asked", json::array()) : json::array()),
      request_(checked_request(read)),
      first_number_(first_number) {
    request_.generation.choice.divided_by = divided_by;
    check_prompts(model_, request_.prompts, request_.generation);
}

std::optional<SamplesEvent> TrainingSamples::take(int64_t step, Decoder& decoder, at::ScalarType dtype,
                                                  bool shards_weights, Groups& groups) {
    if (taken_at_ == step) return std::nullopt;
    taken_at_ = step;
    Generation generation = request_.generation;
    if (shards_weights) {
        generation.any_rank = [&groups](bool needs_pass) {
            at::Tensor any = at::full({1}, needs_pass ? 1 : 0, at::kLong).to(groups.device());
            groups.world().all_reduce(any, Reduce::Max).wait();
            return any.item<int64_t>() != 0;
        };
    }
    const std::vector<Completion> completions =
        generate(decoder, model_, dtype, groups.device(), request_.prompts, generation, groups.progress());
    if (groups.rank() != 0) return std::nullopt;
    return write(step, completions);
}

SamplesEvent TrainingSamples::write(int64_t step, const std::vector<Completion>& completions) const {
    std::string lines;
    for (size_t i = 0; i < completions.size(); ++i) {
        const Completion& made = completions[i];
        const std::string text = request_.texts.text_of(made.ids);
        lines += json{{"step", step},
                      {"prompt", first_number_ + static_cast<int64_t>(i)},
                      {"asked", i < asked_.size() ? asked_[i] : json()},
                      {"text", text},
                      {"ids", made.ids},
                      {"log_probabilities", made.log_probabilities},
                      {"stopped", made.stopped}}
                     .dump() +
                 "\n";
    }
    std::ofstream file(file_, std::ios::app | std::ios::binary);
    file << lines << std::flush;
    if (!file) log_line("warning: " + file_.string() + " cannot be written; the run goes on");
    log_line("samples of step " + std::to_string(step) + " are in " + file_.string());
    std::error_code none;
    return {step, static_cast<int64_t>(completions.size()), static_cast<int64_t>(fs::file_size(file_, none))};
}

}  // namespace ringmaster
