// Tests that every key listed as used changes the plan, the rows, what training computes or the files that it
// leaves. Two values of the key are planned on two ranks. If the plans are equal, both are trained for a few
// steps on one rank.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/commands/session.h"
#include "engine/config/document.h"
#include "engine/config/keys.h"
#include "engine/config/policy.h"
#include "engine/config/samples.h"
#include "engine/config/trackers.h"
#include "engine/data/tokens.h"
#include "engine/files/crc32c.h"
#include "engine/files/safetensors.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/run/tokenize.h"
#include "tests/config/key_samples.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Lists keys whose effect this test does not check, with what each does and the test that checks it.
const std::map<std::string, std::string> kNotSeenHere = {
    {"ddp_timeout", "how long a rank waits for a lost one: tests/train/patience_test.cpp"}};

constexpr int kRows = 12, kVocabulary = 61;

/// Configures a run of a few steps; each tested key is added to this text.
const std::string kRunBase =
    "base_model: ./model\n"
    "datasets: [{path: ./rows.jsonl, ds_type: json, type: ''}]\n"
    "sequence_len: 32\n"
    "learning_rate: 0.01\n"
    "micro_batch_size: 2\n"
    "gradient_accumulation_steps: 1\n"
    "max_steps: 4\n"
    "warmup_steps: 1\n"
    "output_dir: ./out\n";

const json kShape = {{"model_type", "llama"},
                     {"architectures", {"LlamaForCausalLM"}},
                     {"hidden_size", 32},
                     {"intermediate_size", 48},
                     {"num_hidden_layers", 2},
                     {"num_attention_heads", 4},
                     {"num_key_value_heads", 2},
                     {"vocab_size", kVocabulary},
                     {"max_position_embeddings", 64},
                     {"rms_norm_eps", 1e-6},
                     {"hidden_act", "silu"},
                     {"tie_word_embeddings", false}};

/// Writes rows of random tokens; each holds two documents, whose first tokens are prompts. If
/// `judgements` is not 0, only each document's last token has a label, which is below that number.
void write_rows(const fs::path& path, bool with_documents, int judgements = 0) {
    constexpr int kPrompt = 4;
    std::vector<int32_t> ids, labels, desirable;
    std::vector<int64_t> rows = {0}, documents = {0};
    std::vector<double> advantages;
    std::mt19937 source(7);
    for (int document = 0; document < 2 * kRows; ++document) {
        const int length = 8 + static_cast<int>(source() % 8);
        for (int i = 0; i < length; ++i) {
            ids.push_back(static_cast<int32_t>(source() % kVocabulary));
            labels.push_back(i < kPrompt || judgements > 0 ? kNoLabel : ids.back());
        }
        if (judgements > 0) labels.back() = document % judgements;
        documents.push_back(static_cast<int64_t>(ids.size()));
        desirable.push_back(document % 3 == 0 ? 0 : 1);
        advantages.push_back(document % 2 == 0 ? 1.0 : -0.5);
        if (document % 2 == 1) rows.push_back(documents.back());
    }
    const auto size = [](const auto& list) { return static_cast<int64_t>(list.size()); };
    std::vector<TensorInfo> tensors = {{"input_ids", "I32", {size(ids)}},
                                       {"labels", "I32", {size(labels)}},
                                       {"row_offsets", "I64", {size(rows)}}};
    const std::vector<double> old_log_p(ids.size(), -4.0);
    if (with_documents)
        tensors.insert(tensors.end(), {{"document_offsets", "I64", {size(documents)}},
                                       {"desirable", "I32", {size(desirable)}},
                                       {"advantages", "F64", {size(advantages)}},
                                       {"old_log_probabilities", "F64", {size(old_log_p)}}});
    const std::vector<int32_t> own_labels = {1};
    if (judgements > 0) tensors.push_back({"own_labels", "I32", {1}});
    SafetensorsWriter writer(path, tensors);
    const auto write = [&](const auto& list) { writer.write(list.data(), list.size() * sizeof(list[0])); };
    write(ids), write(labels), write(rows);
    if (with_documents) write(documents), write(desirable), write(advantages), write(old_log_p);
    if (judgements > 0) write(own_labels);
    writer.finish();
}

class KeyEffects : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder;
        setenv("RINGMASTER_AGENT", "test", 1);  // makes this process write no run.json and no log file
        json experts = kShape;
        experts.update({{"model_type", "mixtral"},
                        {"architectures", {"MixtralForCausalLM"}},
                        {"num_local_experts", 4},
                        {"num_experts_per_tok", 2},
                        {"sliding_window", nullptr}});
        folder_->write("model/config.json", kShape.dump());
        folder_->write("experts/config.json", experts.dump());
        write_rows(at("plain"), false);
        write_rows(at("documents"), true);
        write_rows(at("scored"), true, 1);
        write_rows(at("judged"), false, 2);
        make_weights("model", "");
        make_weights("experts", "base_model: ./experts\n");
        make_weights("one", std::string(kLora) + "seed: 1\n");
        make_weights("other", std::string(kLora) + "seed: 2\n");
    }
    static void TearDownTestSuite() { delete folder_; }

    static fs::path at(const std::string& name) { return *folder_ / name; }

    static ConfigReading read_run(const std::string& text) {
        return read_config_text(kRunBase + text, at("config.yaml").string());
    }

    static Plan plan_of(const ConfigReading& reading, int ranks, Device device) {
        PlanRequest request;
        request.ranks = ranks;
        request.device = device;
        request.device_memory_bytes = int64_t{1} << 40;
        request.rows = kRows;
        request.eval_rows = kRows;
        request.preflight = Preflight::None;
        return make_plan(reading, request);
    }

    /// Trains and keeps the result, a model or an adapter, as the folder `name`.
    static void make_weights(const std::string& name, const std::string& text) {
        const ConfigReading reading = read_run("reinit_weights: true\n" + text);
        trained(reading);
        ASSERT_TRUE(fs::exists(reading.config.output_dir)) << all_said(reading);
        fs::copy(reading.config.output_dir, at(name),
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }

    /// Returns the results and the files of a run of four steps, without times and sizes of memory.
    static json trained(const ConfigReading& reading) {
        static int runs = 0;
        const fs::path run = at("run-" + std::to_string(++runs));
        fs::create_directories(run);
        Plan plan = plan_of(reading, 1, Device::Cpu);
        const Config& config = plan.config;
        const bool evaluates = config.val_set_size > 0 || !config.test_datasets.empty();
        const std::string rows = at(config.preference.scores() ? "scored"
                                    : config.token_labels > 0  ? "judged"
                                    : weighs_documents(config) ? "documents"
                                                               : "plain")
                                     .string();
        plan.data = {rows, evaluates ? rows : "", kRows, evaluates ? kRows : 0};
        write_plan((run / "plan.json").string(), plan);
        fs::remove_all(config.output_dir);
        testing::internal::CaptureStdout();
        const int status = run_session({run});
        const std::string log = testing::internal::GetCapturedStdout();
        EXPECT_EQ(status, 0) << log << all_said(reading);
        return {{"events", computed(run)},
                {"lines", count(log, "  grad_norm ")},
                {"checkpoints", files_of(run / "checkpoints")},
                {"output", files_of(config.output_dir)},
                {"status", status}};
    }

    static int64_t count(const std::string& text, const std::string& part) {
        int64_t found = 0;
        for (size_t place = text.find(part); place != std::string::npos; place = text.find(part, place + 1))
            ++found;
        return found;
    }

    /// Returns rank 0's logged values (loss, gradient norm, …) of every step and evaluation.
    static json computed(const fs::path& run) {
        json all = json::array();
        std::ifstream file(run / "events" / "rank-00000.jsonl");
        for (std::string line; std::getline(file, line);) {
            const json event = json::parse(line);
            if (event["type"] != "step" && event["type"] != "eval") continue;
            json kept = json::array({event["type"]});
            for (const char* name : {"step", "epoch", "loss", "grad_norm", "lr", "tokens", "router_loss"})
                kept.push_back(event.value(name, json()));
            all.push_back(kept);
        }
        return all;
    }

    /// Returns the names and checksums of a folder's files; of text files that name the run, only the name.
    static json files_of(const fs::path& folder) {
        json files = json::object();
        if (!fs::exists(folder)) return files;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (!entry.is_regular_file()) continue;
            const std::string name = fs::relative(entry.path(), folder_->path()).string();
            const bool is_weights = entry.path().extension() == ".safetensors";
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(file), {}};
            files[name.substr(name.starts_with("run-") ? name.find('/') : 0)] =
                is_weights ? crc32c(0, bytes.data(), bytes.size()) : 0;
        }
        return files;
    }

    /// Returns the plan for two ranks, without the parts that only repeat the configuration.
    static json planned(const ConfigReading& reading, Device device = Device::Cpu) {
        json plan = plan_to_json(plan_of(reading, 2, device));
        for (const char* part : {"config", "diagnostics", "keys"}) plan.erase(part);
        return plan;
    }

    static json settings_outside_plan(const std::string& text) {
        Document document;
        Diagnostics said;
        read_document(text, document, said);
        const RequestedTrackers wish = requested_trackers(document.values);
        return {wish.names, wish.keys, requested_samples(document.values)};
    }

    static json request_for_rows(const ConfigReading& reading) {
        return tokenize_request(reading.config, plan_of(reading, 1, Device::Cpu).model);
    }

    static bool has_error(const ConfigReading& reading) {
        return std::any_of(reading.diagnostics.begin(), reading.diagnostics.end(),
                           [](const Diagnostic& said) { return said.severity == Severity::Error; });
    }

    /// Returns the first result that differs between the two values; "" if none does.
    static std::string effect_of(const Sample& sample) {
        const std::string one = text_of(sample, sample.one), other = text_of(sample, sample.other);
        const ConfigReading first = read_run(one), second = read_run(other);
        if (sample.key == std::string("strict") && has_error(first) != has_error(second)) return "refusal";
        if (is_refused(first, sample) || is_refused(second, sample)) {
            const bool only_one = is_refused(first, sample) != is_refused(second, sample);
            return sample.refusal_counts && only_one ? "refusal" : "";
        }
        if (planned(first) != planned(second)) return "plan";
        if (request_for_rows(first) != request_for_rows(second)) return "rows";
        if (settings_outside_plan(one) != settings_outside_plan(other)) return "files";
        const json here = trained(first), there = trained(second);
        if (here["events"] != there["events"]) return "losses";
        if (here != there) return "files";
        return planned(first, Device::Cuda) != planned(second, Device::Cuda) ? "plan" : "";
    }

    static TemporaryFolder* folder_;
};

TemporaryFolder* KeyEffects::folder_ = nullptr;

TEST_F(KeyEffects, OfNothingAreNoneAndOfARateAreLosses) {
    EXPECT_EQ(trained(read_run("")), trained(read_run("")));
    EXPECT_EQ(effect_of({"learning_rate", "", "0.01", "0.01"}), "");
    EXPECT_EQ(effect_of({"learning_rate", "", "0.01", "0.02"}), "losses");
    EXPECT_EQ(effect_of({"output_dir", "", "./out", "./result"}), "files");
}

TEST_F(KeyEffects, OfEveryUsedKeyAreSeen) {
    std::map<std::string, int> effects;
    for (const std::string& key : known_keys()) {
        if (find_key(key)->fate != Fate::Used || kNotSeenHere.contains(key)) continue;
        std::string found;
        EXPECT_TRUE(some_values_have(key, [&](const Sample& sample) {
            found = effect_of(sample);
            return !found.empty();
        })) << key;
        std::printf("%s: %s\n", key.c_str(), found.c_str());
        ++effects[found];
    }
    EXPECT_GE(effects["losses"], 30);
    EXPECT_GE(effects["plan"], 20);
    EXPECT_GE(effects["rows"], 20);
}

}  // namespace
}  // namespace ringmaster
