#include "engine/train/folder_rollouts.h"

#include <ATen/ATen.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/config/sequences_per_row.h"
#include "engine/json_problem.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr char kCode[] = "ROLLOUT-FOLDER";
constexpr size_t kLongestAnswer = 1 << 16;

/// Returns the file's bytes [bytes] as uint8. Throws Error(Refused) if it cannot be read.
at::Tensor bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const auto size = static_cast<int64_t>(fs::file_size(path));
    at::Tensor bytes = at::empty({size}, at::kByte);
    file.read(reinterpret_cast<char*>(bytes.data_ptr<uint8_t>()), size);
    if (!file) throw Error(Failure::Refused, Code(kCode), "cannot be read", path.string());
    return bytes;
}

/// Writes a temporary file and renames it, because the existing file may be mapped.
void write_bytes(const fs::path& path, const at::Tensor& bytes) {
    const fs::path aside = path.string() + ".aside";
    std::ofstream file(aside, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>()), bytes.numel());
    file.close();
    if (!file) throw Error(Failure::Refused, Code("DISK-FULL"), "cannot be written", path.string());
    fs::rename(aside, path);
}

}  // namespace

std::vector<std::string> rollout_command(const json& read) {
    std::vector<std::string> words;
    try {
        words = read.at("rollout_command").get<std::vector<std::string>>();
    } catch (const json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: " + json_problem(problem),
                    "sampling.json", "prepare the run again");
    }
    if (words.empty())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "there is no command that takes rollouts",
                    "sampling.json", "prepare the run again");
    return words;
}

std::unique_ptr<RolloutSource> FolderRollouts::of_run(const fs::path& run_dir, const Plan& plan,
                                                      Groups& groups) {
    std::ifstream text(run_dir / "sampling.json");
    const json read = json::parse(text, nullptr, /*allow_exceptions=*/false);
    return std::unique_ptr<RolloutSource>(new FolderRollouts(run_dir, plan, groups, rollout_command(read)));
}

FolderRollouts::FolderRollouts(const fs::path& run_dir, const Plan& plan, Groups& groups,
                               std::vector<std::string> command)
    : RolloutSource(run_dir, groups),
      plan_(plan),
      command_{std::move(command), {}, std::chrono::minutes(2), kCode, "folder of rollouts"} {}

std::chrono::milliseconds FolderRollouts::patience() const {
    constexpr std::chrono::seconds kOfProcess{60};  // extra time, so that the process times out first
    return std::chrono::seconds(plan_.config.policy->folder->timeout) + kOfProcess;
}

/// Asks the process to write the rows to rank 0's file. Returns false if rank 0 was asked to stop meanwhile.
bool FolderRollouts::asks(const std::vector<int64_t>& chosen, const Policy& policy) {
    if (!process_) process_ = std::make_unique<RewardProcess>(command_);
    AnswerRules rules{kCode, place(), "the log of rank 0 says more", patience()};
    rules.warn = policy.warn;
    rules.waits = policy.waits;
    rules.stops = policy.stops;
    rules.stops_at_once = true;
    const json question{
        {"take",
         {{"begin", chosen.front()}, {"count", chosen.size()}, {"to", fs::absolute(own_file()).string()}}}};
    const auto line = process_->ask(question.dump() + "\n", kLongestAnswer, rules);
    if (!line) {
        process_.reset();  // ends the process, which still waits for a file
        return false;
    }
    if (json::parse(*line, nullptr, /*allow_exceptions=*/false) != json{{"rows", chosen.size()}})
        throw Error(Failure::Refused, Code(kCode), "the answer does not hold the rows that were asked for",
                    place());
    map_own_file();
    check_rows(static_cast<int64_t>(chosen.size()));
    return true;
}

/// Throws Error(Refused) if the rows do not fit a step of the plan.
void FolderRollouts::check_rows(int64_t count) const {
    const int64_t longest = plan_.config.sequence_len * sequences_per_row(plan_.config);
    tokens().check(plan_.model->vocab_size, plan_.model->head_rows(), longest);
    if (tokens().rows() != count)
        throw Error(Failure::Refused, Code(kCode),
                    "holds " + std::to_string(tokens().rows()) + " rows, not " + std::to_string(count),
                    own_file().string());
}

bool FolderRollouts::next(int64_t, const TokenFile*, const std::vector<int64_t>& chosen,
                          const Policy& policy) {
    Obtained own = Obtained::Rows;
    std::optional<Error> problem;
    if (groups_.rank() == 0) {
        try {
            own = asks(chosen, policy) ? Obtained::Rows : Obtained::Stopped;
        } catch (const Error& error) {
            own = Obtained::Failed;
            problem = error;
            process_.reset();
        }
    }
    const Obtained all = agree_on_rows(groups_, own);
    if (all == Obtained::Failed) fail_everywhere(groups_, problem);
    if (all == Obtained::Stopped) return false;
    share_file();
    return true;
}

/// Broadcasts the bytes of rank 0's file to all ranks.
void FolderRollouts::share_file() {
    const bool is_first = groups_.rank() == 0;
    at::Tensor bytes = is_first ? bytes_of(own_file()) : at::Tensor();
    at::Tensor size = at::full({1}, is_first ? bytes.numel() : 0, at::kLong).to(groups_.device());
    groups_.world().broadcast(size, 0).wait();
    if (!is_first) bytes = at::empty({size.item<int64_t>()}, at::kByte);
    bytes = bytes.to(groups_.device());
    groups_.world().broadcast(bytes, 0).wait();
    if (is_first) return;
    write_bytes(own_file(), bytes.cpu());
    map_own_file();
}

}  // namespace ringmaster
