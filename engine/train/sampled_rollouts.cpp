#include "engine/train/sampled_rollouts.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/files/durable.h"
#include "engine/files/safetensors.h"
#include "engine/json_problem.h"
#include "engine/train/run_log.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& hint = {}) {
    throw Error(Failure::Refused, Code("REWARD-FUNCTION"), what, where, hint);
}

std::vector<Prompt> prompts_of(const TokenFile& file, const std::vector<int64_t>& rows, int64_t generations) {
    std::vector<Prompt> prompts;
    for (const int64_t row : rows) {
        const Row read = file.row(row);
        for (int64_t i = 0; i < generations; ++i)
            prompts.push_back(
                {{read.input_ids.begin(), read.input_ids.end()}, static_cast<int64_t>(prompts.size())});
    }
    return prompts;
}

json figures_json(const RewardFigures& figures) {
    return {{"mean", figures.mean ? json(*figures.mean) : json()},
            {"std", figures.spread ? json(*figures.spread) : json()}};
}

template <class T>
void write_vector(SafetensorsWriter& writer, const std::vector<T>& values) {
    writer.write(values.data(), values.size() * sizeof(T));
}

}  // namespace

SamplingRequest sampling_request(const json& read, const Config& config) {
    const SamplingRule& rule = *config.sampling;
    SamplingRequest request;
    Generation& generation = request.generation;
    generation.max_new_tokens = config.policy->answer_tokens;
    generation.choice.temperature = generation.choice.divided_by = config.policy->temperature;
    generation.choice.top_k = rule.top_k;
    generation.choice.top_p = rule.top_p;
    generation.choice.seed = config.seed;
    request.rewards.functions = rule.functions;
    try {
        generation.stop_ids = read.at("stop_ids").get<std::vector<int64_t>>();
        request.rewards.words = read.at("reward_command").get<std::vector<std::string>>();
        request.rewards.patience = std::chrono::seconds(read.value("reward_timeout", int64_t{120}));
    } catch (const json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: " + json_problem(problem),
                    "sampling.json", "prepare the run again");
    }
    if (request.rewards.words.empty()) refuse("there is no command that judges completions", "sampling.json");
    return request;
}

namespace {

/// Throws Error(Refused) for a plan that `ringmaster prepare` would not make.
void check_plan(const Plan& plan) {
    const SamplingRule& rule = *plan.config.sampling;
    if (rule.generations >= 2 && plan.batch.global % rule.generations == 0 && !rule.functions.empty() &&
        rule.weights.size() == rule.functions.size() && plan.config.policy->answer_tokens >= 1 &&
        !plan.config.sample_packing)
        return;
    throw Error(Failure::Refused, Code("FILE-DAMAGED"), "asks for completions that cannot be sampled",
                "plan.json", "prepare the run again");
}

}  // namespace

std::unique_ptr<RolloutSource> SampledRollouts::of_run(const fs::path& run_dir, const Plan& plan,
                                                       Groups& groups) {
    check_plan(plan);
    std::ifstream text(run_dir / "sampling.json");
    const json read = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!read.is_object())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is no request to sample",
                    (run_dir / "sampling.json").string(), "prepare the run again");
    return std::unique_ptr<RolloutSource>(
        new SampledRollouts(run_dir, plan, groups, sampling_request(read, plan.config)));
}

SampledRollouts::SampledRollouts(const fs::path& run_dir, const Plan& plan, Groups& groups,
                                 SamplingRequest request)
    : RolloutSource(run_dir, groups),
      plan_(plan),
      rule_(*plan.config.sampling),
      request_(std::move(request)) {}

int64_t SampledRollouts::rows_per_step() const {
    return plan_.batch.global / rule_.generations;  // the plan's batch consists of complete groups
}

void SampledRollouts::check(const TokenFile* prompts) const {
    for (int64_t row = 0; row < prompts->rows(); ++row) {
        if (prompts->tokens_of(row) + request_.generation.max_new_tokens <= plan_.config.sequence_len)
            continue;
        throw Error(Failure::Refused, Code("DATA-ROWS"),
                    "prompt " + std::to_string(row + 1) + " has " + std::to_string(prompts->tokens_of(row)) +
                        " tokens, which leaves too few of sequence_len for max_completion_length",
                    "sequence_len", "raise sequence_len");
    }
}

bool SampledRollouts::next(int64_t step, const TokenFile* prompts, const std::vector<int64_t>& rows,
                           const Policy& policy) {
    const std::vector<Prompt> asked = prompts_of(*prompts, rows, rule_.generations);
    check_prompts(*plan_.model, asked, request_.generation);
    const auto completions =
        rule_.server ? served(step, asked, policy) : std::optional(completions_of(step, asked, policy));
    if (!completions) return false;
    const Advantages advantages = advantages_of(rule_, rewards_of(step, rows, *completions));
    write(asked, *completions, advantages.of_completions);
    take_figures(*completions, advantages);
    return true;
}

/// Returns the completions of all prompts, on every rank. Each of n ranks continues every n-th prompt, so
/// that adjacent prompts go to different ranks.
std::vector<Completion> SampledRollouts::completions_of(int64_t step, const std::vector<Prompt>& prompts,
                                                        const Policy& policy) {
    Generation generation = request_.generation;
    generation.choice.seed += step << 32;
    if (policy.shards_weights) {
        generation.any_rank = [this](bool needs_pass) {
            at::Tensor any = at::full({1}, needs_pass ? 1 : 0, at::kLong).to(groups_.device());
            groups_.world().all_reduce(any, Reduce::Max).wait();
            return any.item<int64_t>() != 0;
        };
    }
    const auto first = static_cast<size_t>(groups_.rank()), ranks = static_cast<size_t>(plan_.ranks);
    std::vector<Prompt> own;
    for (size_t i = first; i < prompts.size(); i += ranks) own.push_back(prompts[i]);
    const std::vector<Completion> made = generate(policy.decoder, *plan_.model, policy.dtype,
                                                  groups_.device(), own, generation, groups_.progress());
    std::vector<Completion> all(prompts.size());
    for (size_t i = 0; i < made.size(); ++i) all[first + i * ranks] = made[i];
    share(all);
    return all;
}

/// Gives every rank the completions of all ranks. Each rank fills its part of a table of zeros, and an
/// all-reduce sums the tables.
void SampledRollouts::share(std::vector<Completion>& completions) {
    const int64_t width = request_.generation.max_new_tokens + 2;
    at::Tensor table = at::zeros({static_cast<int64_t>(completions.size()), width}, at::kLong);
    auto cells = table.accessor<int64_t, 2>();
    for (size_t i = 0; i < completions.size(); ++i) {
        const Completion& own = completions[i];
        const auto row = static_cast<int64_t>(i);
        cells[row][0] = static_cast<int64_t>(own.ids.size());
        cells[row][1] = own.stopped;
        for (size_t t = 0; t < own.ids.size(); ++t) cells[row][static_cast<int64_t>(t) + 2] = own.ids[t];
    }
    table = table.to(groups_.device());
    groups_.world().all_reduce(table).wait();
    table = table.cpu();
    const auto shared = table.accessor<int64_t, 2>();
    for (size_t i = 0; i < completions.size(); ++i) {
        const auto row = shared[static_cast<int64_t>(i)];
        completions[i].stopped = row[1] != 0;
        completions[i].ids.resize(static_cast<size_t>(row[0]));
        for (int64_t t = 0; t < row[0]; ++t) completions[i].ids[static_cast<size_t>(t)] = row[t + 2];
    }
    if (has_log_probabilities()) share_log_probabilities(completions);
}

/// Sends the log-probabilities to every rank, after all ranks have the tokens.
void SampledRollouts::share_log_probabilities(std::vector<Completion>& completions) {
    const auto width = static_cast<size_t>(request_.generation.max_new_tokens);
    at::Tensor table = at::zeros({static_cast<int64_t>(completions.size() * width)}, at::kDouble);
    for (size_t i = 0; i < completions.size(); ++i)
        std::copy(completions[i].log_probabilities.begin(), completions[i].log_probabilities.end(),
                  table.data_ptr<double>() + i * width);
    table = table.to(groups_.device());
    groups_.world().all_reduce(table).wait();
    table = table.cpu();
    for (size_t i = 0; i < completions.size(); ++i) {
        const double* row = table.const_data_ptr<double>() + i * width;
        completions[i].log_probabilities.assign(row, row + completions[i].ids.size());
    }
}

std::chrono::milliseconds SampledRollouts::patience() const {
    constexpr std::chrono::seconds kOfProcess{60};  // extra time, so that the process times out first
    return rule_.server ? std::chrono::seconds(rule_.server->timeout) + kOfProcess
                        : std::chrono::milliseconds(0);
}

std::string SampledRollouts::place() const {
    return rule_.server ? rule_.server->address() : "reward functions";
}

RewardProcess& SampledRollouts::process() {
    if (!process_) process_ = std::make_unique<RewardProcess>(request_.rewards);
    return *process_;
}

ServedQuestion SampledRollouts::question_of(int64_t step, const std::vector<Prompt>& prompts,
                                            const fs::path& weights) const {
    ServedQuestion question;
    question.step = step;
    question.weights = fs::absolute(weights).string();
    question.generations = rule_.generations;
    for (size_t i = 0; i < prompts.size(); i += static_cast<size_t>(rule_.generations))
        question.asks.push_back(prompts[i].ids);
    question.vocabulary = plan_.model->vocab_size;
    question.generation = request_.generation;
    question.generation.choice.seed += (step - 1) * plan_.batch.global;
    question.wants_log_probabilities = has_log_probabilities();
    return question;
}

std::optional<std::vector<Completion>> SampledRollouts::answer_of_server(const ServedQuestion& question,
                                                                         const Policy& policy) {
    AnswerRules rules{"ROLLOUT-SERVER", "server " + rule_.server->address(), "the log of rank 0 says more",
                      patience()};
    rules.warn = policy.warn;
    rules.stops = policy.stops;
    const auto line = process().ask(line_of(question), longest_answer(question), rules);
    if (line) return completions_in(*line, question);
    process_.reset();  // ends the process, which still waits for the server
    return std::nullopt;
}

namespace {

constexpr char kWeights[] = "weights-";

void remove_other_weights(const fs::path& folder) {
    std::vector<fs::path> others;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.parent_path())) {
        if (entry.path().filename().string().starts_with(kWeights) && entry.path() != folder)
            others.push_back(entry.path());
    }
    for (const fs::path& other : others) remove_folder(other);
}

}  // namespace

/// Gives the current weights to the server and returns the server's completions, on every rank.
std::optional<std::vector<Completion>> SampledRollouts::served(int64_t step,
                                                               const std::vector<Prompt>& prompts,
                                                               const Policy& policy) {
    char name[40];
    std::snprintf(name, sizeof name, "%s%08lld", kWeights, static_cast<long long>(step - 1));
    const fs::path folder = dir_ / "rollouts" / name;
    policy.write(folder);
    std::vector<Completion> completions(prompts.size());
    Obtained own = Obtained::Rows;
    std::optional<Error> problem;
    if (groups_.rank() == 0) {
        try {
            auto answer = answer_of_server(question_of(step, prompts, folder), policy);
            if (answer)
                completions = std::move(*answer);
            else
                own = Obtained::Stopped;
        } catch (const Error& error) {
            own = Obtained::Failed;
            problem = error;
        }
    }
    const Obtained all = agree_on_rows(groups_, own);
    if (all == Obtained::Failed) fail_everywhere(groups_, problem);
    if (all == Obtained::Stopped) return std::nullopt;
    share(completions);
    if (groups_.rank() == 0) remove_other_weights(folder);
    return completions;
}

Rewards SampledRollouts::rewards_of(int64_t step, const std::vector<int64_t>& rows,
                                    const std::vector<Completion>& completions) {
    if (groups_.rank() != 0) return shared({}, completions.size(), {});
    std::vector<CompletionToScore> asked;
    const auto group = static_cast<size_t>(rule_.generations);
    for (size_t i = 0; i < completions.size(); ++i) asked.push_back({rows[i / group], completions[i].ids});
    Rewards rewards;
    try {
        rewards = process().judge(step - 1, asked);
    } catch (const Error& error) {
        return shared({}, completions.size(), error);
    }
    return shared(rewards, completions.size(), {});
}

Rewards SampledRollouts::shared(const Rewards& rewards, size_t count, const std::optional<Error>& problem) {
    const size_t functions = rule_.weights.size();
    at::Tensor values = at::full({static_cast<int64_t>(count * functions + 1)}, kNone, at::kDouble);
    double* cell = values.data_ptr<double>();
    *cell++ = problem ? 1 : 0;
    for (const auto& of_completion : rewards) {
        for (const std::optional<double>& reward : of_completion) *cell++ = reward.value_or(kNone);
    }
    values = values.to(groups_.device());
    groups_.world().broadcast(values, 0).wait();
    values = values.cpu();
    const double* read = values.const_data_ptr<double>();
    if (*read++ != 0) fail_everywhere(groups_, problem);
    Rewards all(count, std::vector<std::optional<double>>(functions));
    for (auto& of_completion : all) {
        for (std::optional<double>& reward : of_completion) {
            if (!std::isnan(*read)) reward = *read;
            ++read;
        }
    }
    return all;
}

/// Writes the rows as a file that is mapped like prepared rows.
void SampledRollouts::write(const std::vector<Prompt>& prompts, const std::vector<Completion>& completions,
                            const std::vector<double>& advantages) {
    std::vector<int32_t> ids, labels;
    std::vector<int64_t> ends{0};
    for (size_t i = 0; i < prompts.size(); ++i) {
        ids.insert(ids.end(), prompts[i].ids.begin(), prompts[i].ids.end());
        labels.resize(ids.size(), kNoLabel);
        ids.insert(ids.end(), completions[i].ids.begin(), completions[i].ids.end());
        labels.insert(labels.end(), completions[i].ids.begin(), completions[i].ids.end());
        ends.push_back(static_cast<int64_t>(ids.size()));
    }
    // There are no earlier log-probabilities: if a step's rows are used once, TRL's update compares with the
    // current log-probabilities.
    const std::vector<double> old(ids.size(), kNone);
    std::vector<double> sampled;
    for (size_t i = 0; has_log_probabilities() && i < prompts.size(); ++i) {
        sampled.resize(sampled.size() + prompts[i].ids.size(), kNone);
        sampled.insert(sampled.end(), completions[i].log_probabilities.begin(),
                       completions[i].log_probabilities.end());
    }
    const auto tokens = static_cast<int64_t>(ids.size()), offsets = static_cast<int64_t>(ends.size());
    std::vector<TensorInfo> tensors{
        {"advantages", "F64", {offsets - 1}}, {"old_log_probabilities", "F64", {tokens}},
        {"row_offsets", "I64", {offsets}},    {"document_offsets", "I64", {offsets}},
        {"input_ids", "I32", {tokens}},       {"labels", "I32", {tokens}}};
    if (!sampled.empty()) tensors.push_back({"sampled_log_probabilities", "F64", {tokens}});
    SafetensorsWriter writer(own_file(), tensors);
    write_vector(writer, advantages);
    write_vector(writer, old);
    write_vector(writer, ends);
    write_vector(writer, ends);
    write_vector(writer, ids);
    write_vector(writer, labels);
    write_vector(writer, sampled);
    writer.finish();
    map_own_file();
}

void SampledRollouts::take_figures(const std::vector<Completion>& completions, const Advantages& advantages) {
    double tokens = 0, cut = 0;
    for (const Completion& completion : completions) {
        tokens += static_cast<double>(completion.ids.size());
        cut += !completion.stopped;
    }
    completions_ = static_cast<int64_t>(completions.size());
    const auto count = static_cast<double>(completions.size());
    of_functions_ = advantages.of_functions;
    figures_ = {advantages.weighted.mean, advantages.weighted.spread,
                tokens / count,           cut / count,
                advantages.even_share,    {}};
    for (size_t f = 0; f < of_functions_.size(); ++f) {
        if (of_functions_[f].mean) figures_.functions[rule_.functions[f]] = *of_functions_[f].mean;
    }
}

void SampledRollouts::record(int64_t step) const {
    if (groups_.rank() != 0) return;
    json functions = json::object();
    for (size_t f = 0; f < of_functions_.size(); ++f)
        functions[rule_.functions[f]] = figures_json(of_functions_[f]);
    const json all = figures_json({figures_.reward, figures_.reward_std});
    std::ofstream file(dir_ / "rollouts.jsonl", std::ios::app | std::ios::binary);
    file << json{{"step", step},
                 {"completions", completions_},
                 {"reward", all["mean"]},
                 {"reward_std", all["std"]},
                 {"rewards", functions},
                 {"completion_tokens", *figures_.completion_tokens},
                 {"cut_share", *figures_.cut_share},
                 {"even_share", *figures_.even_share}}
                    .dump() +
                "\n"
         << std::flush;
    if (!file) log_line("warning: rollouts.jsonl cannot be written; the run goes on");
}

}  // namespace ringmaster
