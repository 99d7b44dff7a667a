// Reads files of arbitrary bytes: each gives a reading with diagnostics, never a crash, an exception or a
// hang.
#include <gtest/gtest.h>

#include <random>

#include "tests/config/reading.h"

namespace ringmaster {
namespace {

const std::string kSeed =
    "base_model: NousResearch/Llama-3.2-1B\n"
    "datasets:\n"
    "  - path: owner/rows\n"
    "    type: chat_template\n"
    "    roles: {user: [human, user], assistant: [gpt]}\n"
    "  - &second {path: 'rows.jsonl', ds_type: json, type: \"completion\"}\n"
    "test_datasets: [*second]\n"
    "sequence_len: 8192 # tokens\n"
    "sample_packing: true\n"
    "context_parallel_size: 4\n"
    "learning_rate: 1e-4\n"
    "micro_batch_size: 1\n"
    "gradient_accumulation_steps: 4\n"
    "special_tokens:\n"
    "  pad_token: \"<|end|>\"\n"
    "chat_template_jinja: |\n"
    "  {% for m in messages %}{{ m.content }}{% endfor %}\n"
    "fsdp_config: {reshard_after_forward: true}\n"
    "save_steps: 0.1\n"
    "warmup_ratio: 0.1\n";

const std::string kAccelerateSeed =
    "distributed_type: DEEPSPEED\nnum_processes: 4\ndeepspeed_config: {zero_stage: 3}\n"
    "parallelism_config:\n  parallelism_config_sp_size: 4\n  parallelism_config_sp_seq_length: 64\n"
    "  parallelism_config_sp_seq_length_is_variable: 'False'\n";

/// Returns `text` with a few bytes changed, inserted or removed, or with a part of it repeated.
std::string mutated(std::string text, std::mt19937& random) {
    static const std::string kTelling = "[]{}:,&*!|>'\"%@`#-?\n\t \\~<=0123456789.eE+_\xff\xc3\x28";
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    const std::size_t changes = 1 + below(8);
    for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
        const std::size_t at = below(text.size());
        switch (below(5)) {
            case 0:
                text[at] = kTelling[below(kTelling.size())];
                break;
            case 1:
                text.insert(at, 1, kTelling[below(kTelling.size())]);
                break;
            case 2:
                text.erase(at, 1 + below(12));
                break;
            case 3:
                text.insert(at, text.substr(below(text.size()), below(60)));
                break;
            default:
                text[at] = static_cast<char>(below(256));
                break;
        }
    }
    return text;
}

void expect_sound(const ConfigReading& reading, const std::string& text) {
    if (!reading.readable) {
        EXPECT_TRUE(has_error(reading.diagnostics)) << text;
    }
    for (const Diagnostic& diagnostic : reading.diagnostics) {
        EXPECT_FALSE(diagnostic.message.empty()) << diagnostic.code;
        EXPECT_GE(diagnostic.line, 0);
        EXPECT_NO_THROW(nlohmann::json(diagnostic.message + diagnostic.hint + diagnostic.key).dump())
            << diagnostic.code;
    }
    for (const std::string& key : reading.keys.used) EXPECT_EQ(list_of(reading, key), "used") << key;
    const nlohmann::json fields = config_to_json(reading.config);
    EXPECT_EQ(config_to_json(config_from_json(nlohmann::json::parse(fields.dump()))), fields) << text;
}

TEST(Hostile, MutatedFilesNeverThrow) {
    std::mt19937 random(20260101);
    for (int i = 0; i < 1500; ++i) {
        const std::string text = mutated(i % 4 == 0 ? kAccelerateSeed : kSeed, random);
        ASSERT_NO_THROW(expect_sound(read(text), text)) << text;
    }
}

TEST(Hostile, MutatedSetsAndEnvironmentsNeverThrow) {
    std::mt19937 random(20260102);
    for (int i = 0; i < 500; ++i) {
        ReadOptions options;
        options.set = {{mutated("datasets.0.path", random), mutated("{a: [1, 2], b: 'x'}", random)},
                       {mutated("context_parallel_size", random), mutated("4", random)}};
        options.environment = {{mutated("PARALLELISM_CONFIG_SP_SIZE", random), mutated("4", random)},
                               {"PARALLELISM_CONFIG_CP_SIZE", mutated("2", random)}};
        ASSERT_NO_THROW(expect_sound(read(kSeed, options), options.set[0].first)) << options.set[0].first;
    }
}

TEST(Hostile, EveryPrefixOfAFileIsReadOrRefused) {
    for (std::size_t length = 0; length <= kSeed.size(); ++length) {
        ASSERT_NO_THROW(expect_sound(read(kSeed.substr(0, length)), std::to_string(length)));
    }
}

TEST(Hostile, TheSeedItselfIsFine) {
    const ConfigReading reading = read(kSeed);
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    EXPECT_FALSE(has_error(read(kAccelerateSeed).diagnostics)) << all_said(read(kAccelerateSeed));
}

}  // namespace
}  // namespace ringmaster
