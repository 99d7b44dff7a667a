#include "launcher/run/prompts.h"

#include <nlohmann/json.hpp>

#include "engine/config/samples.h"
#include "engine/error.h"
#include "engine/files/safetensors.h"
#include "launcher/base/files.h"
#include "launcher/base/token_text.h"
#include "launcher/run/request_values.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Writes the bytes of every token but special ones, for engine/sample/token_texts.h.
void write_token_texts(const TokenText& text, const fs::path& path) {
    std::string bytes;
    std::vector<int64_t> offsets = {0};
    for (int32_t id = 0; id < text.count(); ++id) {
        if (!text.is_special(id)) bytes += text.bytes(id);
        offsets.push_back(static_cast<int64_t>(bytes.size()));
    }
    SafetensorsWriter writer(path, {{"offsets", "I64", {static_cast<int64_t>(offsets.size())}},
                                    {"bytes", "U8", {static_cast<int64_t>(bytes.size())}}});
    writer.write(offsets.data(), offsets.size() * sizeof(int64_t));
    writer.write(bytes.data(), bytes.size());
    writer.finish();
}

}  // namespace

fs::path tokenizer_among(const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
        if (!folder.empty() && fs::exists(folder / "tokenizer.json")) return folder;
    }
    throw Error(Failure::Usage, Code("GENERATE-MODEL"), "there is no tokenizer.json",
                folders.front().string(), "copy the model's tokenizer.json to this folder");
}

json encode_prompts(const Config& config, const fs::path& tokenizer, const json& prompts,
                    const fs::path& folder, const Places& places, const Progress& progress) {
    json options = json::object();
    for (const char* key : {"chat_template", "chat_template_jinja", "default_system_message"}) {
        if (config.tokenization.contains(key)) options[key] = config.tokenization[key];
    }
    const json request = {{"tokenizer", tokenizer.string()},
                          {"tokenization", options},
                          {"special_tokens", json::object()},
                          {"base_dir", config.base_dir},
                          {"folders", {tokenizer.string(), config.model_dir}},
                          {"prompts", prompts}};
    const fs::path file = folder / "prompts.json", texts = folder / "token_texts.safetensors";
    write_file(file, request.dump(2) + "\n");
    const json encoded = tokenize_prompts(file, places, progress);
    write_token_texts(TokenText::read(tokenizer), texts);
    return {{"prompts", encoded.at("ids")}, {"stop_ids", encoded.at("stop_ids")}, {"texts", texts.string()}};
}

void write_samples(const RunDirectory& run, const Request& request, const Config& config,
                   const Places& places, const Progress& progress) {
    const fs::path file = run.dir / "samples.json";
    json wish = requested_samples(values_of(request));
    if (wish.is_null()) {
        std::error_code none;
        fs::remove(file, none);
        return;
    }
    wish.update(encode_prompts(config, tokenizer_among({config.tokenizer, config.model_dir}),
                               wish.at("asked"), run.dir, places, progress));
    write_file(file, wish.dump() + "\n");
}

namespace {

/// Returns the command with which the engine starts a Python process that answers its questions.
json step_command(const char* option, const fs::path& request, const Places& places) {
    return {places.python().string(), (places.share_dir / "ringmaster_tokenize.py").string(), option,
            request.string()};
}

/// Writes RUN/rollout_folder.json (ringmaster_rows/rollout_folder.py) and RUN/sampling.json for a run whose
/// rows come from a folder.
void write_rollout_folder(const RunDirectory& run, const Plan& plan, const Places& places) {
    const Config& config = plan.config;
    const fs::path request = run.dir / "rollout_folder.json";
    const json vocabulary = plan.model ? json(plan.model->vocab_size) : json();
    make_folder(run.dir / "rollouts");
    const json asked = {{"folder", config.policy->folder->path},
                        {"timeout", config.policy->folder->timeout},
                        {"journal", (run.dir / "rollouts" / "taken.jsonl").string()},
                        {"sequence_len", config.sequence_len},
                        {"excess_length", to_string(config.excess_length)},
                        {"vocab_size", vocabulary}};
    write_file(request, asked.dump(2) + "\n");
    write_file(run.dir / "sampling.json",
               json{{"rollout_command", step_command("--rollouts", request, places)}}.dump() + "\n");
}

}  // namespace

void write_sampling(const RunDirectory& run, const Plan& plan, const Config& config, const Places& places,
                    const Progress& progress) {
    const fs::path request = run.dir / "sampling.json", rewards = run.dir / "rewards.json";
    std::error_code none;
    fs::remove(request, none);
    fs::remove(rewards, none);
    if (config.policy && config.policy->folder) write_rollout_folder(run, plan, places);
    if (!config.sampling) return;
    json asked = {{"tokenizer", config.tokenizer},
                  {"tokenization", config.tokenization},
                  {"special_tokens", config.special_tokens},
                  {"base_dir", config.base_dir}};
    json judged = asked;
    judged["functions"] = config.sampling->functions;
    if (const auto& server = config.sampling->server)
        judged["server"] = {{"url", server->address()},     {"key_variable", server->key_variable},
                            {"key_file", server->key_file}, {"ca_file", server->ca_file},
                            {"timeout", server->timeout},   {"reload_command", server->reload_command}};
    judged["prompts"] = fs::path(plan.data.tokens).replace_filename("prompts.jsonl").string();
    write_file(rewards, judged.dump(2) + "\n");
    asked["folders"] = json::array({config.model_dir});
    asked["prompts"] = json::array();
    const fs::path tokens_asked = run.dir / "prompts.json";
    write_file(tokens_asked, asked.dump(2) + "\n");
    const json encoded = tokenize_prompts(tokens_asked, places, progress);
    write_file(request, json{{"stop_ids", encoded.at("stop_ids")},
                             {"reward_command", step_command("--rewards", rewards, places)}}
                                .dump() +
                            "\n");
}

}  // namespace ringmaster
