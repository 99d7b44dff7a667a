#include "engine/train/rollout_source.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/train/folder_rollouts.h"
#include "engine/train/sampled_rollouts.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

std::unique_ptr<RolloutSource> RolloutSource::of_run(const fs::path& run_dir, const Plan& plan,
                                                     Groups& groups) {
    if (!plan.config.policy) return nullptr;
    if (plan.config.sampling) return SampledRollouts::of_run(run_dir, plan, groups);
    if (plan.config.policy->folder) return FolderRollouts::of_run(run_dir, plan, groups);
    return nullptr;
}

RolloutSource::RolloutSource(const fs::path& run_dir, Groups& groups) : dir_(run_dir), groups_(groups) {
    fs::create_directories(dir_ / "rollouts");
}

fs::path RolloutSource::own_file() const {
    return dir_ / "rollouts" / ("rank-" + std::to_string(groups_.rank()) + ".safetensors");
}

void RolloutSource::map_own_file() {
    tokens_ = std::make_unique<TokenFile>(own_file());
    rollouts_ = std::make_unique<Rollouts>(own_file());
}

std::vector<int64_t> RolloutSource::rows() const {
    std::vector<int64_t> all(static_cast<size_t>(tokens_->rows()));
    std::iota(all.begin(), all.end(), int64_t{0});
    return all;
}

Obtained agree_on_rows(Groups& groups, Obtained own) {
    at::Tensor shared = at::full({1}, static_cast<int64_t>(own), at::kLong).to(groups.device());
    groups.world().broadcast(shared, 0).wait();
    return static_cast<Obtained>(shared.item<int64_t>());
}

void fail_everywhere(Groups& groups, const std::optional<Error>& problem) {
    constexpr size_t kMost = 1 << 17, kOfPart = 4000;
    at::Tensor letters = at::zeros({static_cast<int64_t>(kMost)}, at::kLong);
    if (problem) {
        const auto part = [](const std::string& text) { return text.substr(0, kOfPart); };
        const std::string text =
            json{problem->code, part(problem->what()), part(problem->where), part(problem->hint)}.dump(
                -1, ' ', true, json::error_handler_t::replace);
        std::copy_n(text.begin(), std::min(text.size(), kMost), letters.data_ptr<int64_t>());
    }
    letters = letters.to(groups.device());
    groups.world().broadcast(letters, 0).wait();
    letters = letters.cpu();
    std::string text;
    for (const int64_t* letter = letters.const_data_ptr<int64_t>(); text.size() < kMost && *letter != 0;
         ++letter)
        text.push_back(static_cast<char>(*letter));
    const auto parts = json::parse(text).get<std::vector<std::string>>();
    throw MissingRollouts(Failure::Refused, Code(parts.at(0)), parts.at(1), parts.at(2), parts.at(3));
}

}  // namespace ringmaster
