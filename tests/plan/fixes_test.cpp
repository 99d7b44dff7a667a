// Applies every fix that is offered. Tests that its finding is gone, that no new finding as severe has
// appeared unless the fix names it, and that the rest of the text is unchanged.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "engine/config/edit.h"
#include "engine/config/finding_record.h"
#include "engine/error.h"
#include "engine/families/lora_sizes.h"
#include "tests/examples/files.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string text_of(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

/// Returns valid configurations: a full model with ring and Ulysses, an adapter, packed rows, evaluation and
/// saving.
const std::vector<std::string>& working_files() {
    static const std::string head =
        "# a model of eight billion parameters\nbase_model: meta-llama/Llama-3-8B-Instruct # the hub's\n\n"
        "datasets:\n  - path: someone/rows\n    type: alpaca # a known one\noutput_dir: /tmp/out\n"
        "learning_rate: 0.0001 # small\nattn_implementation: flash_attention_2\nbf16: true\n"
        "micro_batch_size: 1\ngradient_accumulation_steps: 2 # two\nwarmup_ratio: 0.03\n";
    static const std::vector<std::string> files = {
        head +
            "sequence_len: 8192\ncontext_parallel_size: 4\nring_attn_func: batch_zigzag\nulysses_size: 2\n",
        head +
            "adapter: lora\nlora_r: 16\nlora_alpha: 32\nlora_dropout: 0.05\nlora_target_linear: true # all\n"
            "sequence_len: 2048\ngradient_checkpointing: true\n",
        head +
            "sample_packing: true\npad_to_sequence_len: true\nsequence_len: 4096\ncontext_parallel_size: 2\n"
            "heads_k_stride: 1\nring_attn_func: varlen_llama3\nfsdp_version: 2\nfsdp_config:\n"
            "  reshard_after_forward: true # ZeRO 3\n",
        head +
            "num_epochs: 2\nval_set_size: 0.05\nevals_per_epoch: 2\nsave_strategy: steps\nsave_steps: 100\n"
            "save_total_limit: 2\nlogging_steps: 1\nseed: 7\nmax_grad_norm: 1.0\nweight_decay: 0.1\n"
            "adam_beta1: 0.9\nadam_beta2: 0.95\nadam_epsilon: 1e-8\nlr_scheduler: cosine\n"
            "optimizer: adamw_torch\nsequence_len: 1024\nexcess_length_strategy: drop\n",
        head +
            "dp_replicate_size: 2\ndp_shard_size: 2\ncontext_parallel_size: 2\nsequence_len: 4096\n"
            "fsdp_config: {reshard_after_forward: true}\ntiled_mlp: true\nselective_checkpointing: false\n"};
    return files;
}

std::string misspelt(const std::string& key, size_t way) {
    const size_t at = 1 + way % (key.size() - 1);
    std::string word = key;
    if (way % 3 == 0) return word.erase(at, 1);
    if (way % 3 == 1) return word.insert(at, 1, word[at]);
    std::swap(word[at - 1], word[at]);
    return word;
}

/// Returns copies of the lines with one line changed: its key is misspelt or its value is replaced.
std::vector<Lines> mutations(const Lines& lines) {
    const std::vector<std::string> values = {"banana", "-1",     "0.5", "3",    "1000000007",
                                             "[1, 2]", "{a: 1}", "''",  "true", "2.5e300"};
    std::vector<Lines> all;
    for (size_t i = 0; i < lines.size(); ++i) {
        const size_t begin = lines[i].find_first_not_of(" -");
        const size_t colon = lines[i].find(": ");
        if (begin == std::string::npos || lines[i][begin] == '#' || colon == std::string::npos) continue;
        const std::string key = lines[i].substr(begin, colon - begin);
        const size_t comment = std::min(lines[i].find(" #"), lines[i].size());
        const auto with = [&](const std::string& line) {
            all.push_back(lines);
            all.back()[i] = line;
        };
        for (size_t way = 0; way < 30; ++way) {
            const std::string word = misspelt(key, way);
            if (word != key) with(lines[i].substr(0, begin) + word + lines[i].substr(colon));
        }
        for (const std::string& value : values)
            with(lines[i].substr(0, colon + 2) + value + lines[i].substr(comment));
    }
    return all;
}

using Said = std::tuple<std::string, std::string, std::string>;

/// Returns the highest severity for each code, key and form of the findings.
std::map<Said, Severity> what_is_said(const Plan& plan) {
    std::map<Said, Severity> all;
    for (const Diagnostic& d : plan.diagnostics) {
        Severity& most = all.emplace(Said(d.code, d.key, d.form), d.severity).first->second;
        most = std::max(most, d.severity);
    }
    return all;
}

/// Returns false if a line was added, changed or removed that belongs neither to the finding's key nor to one
/// of the fix's edits. An edit of a nested key permits every line, and indented lines and list items may also
/// be removed. The other lines must keep their order.
bool only_edits(const std::string& before, const std::string& after, const std::string& finding_key,
                const Fix& fix) {
    const auto is_edited = [&](const std::string& line) {
        if (!finding_key.empty() && line.starts_with(finding_key + ":")) return true;
        return std::any_of(fix.edits.begin(), fix.edits.end(), [&](const Edit& edit) {
            return line.find(edit.key.substr(edit.key.rfind('.') + 1)) != std::string::npos ||
                   edit.key.find('.') != std::string::npos;
        });
    };
    const auto may_go = [&](const std::string& line) {
        return is_edited(line) || line.starts_with(" ") || line.starts_with("- ");
    };
    const Lines old = lines_of(before), made = lines_of(after);
    auto next = old.begin();
    for (const std::string& line : made) {
        const auto same = std::find(next, old.end(), line);
        if (same != old.end() && std::all_of(next, same, may_go)) {
            next = same + 1;
        } else if (!is_edited(line)) {
            return false;
        }
    }
    return std::all_of(next, old.end(), may_go);
}

struct Count {
    int mutations = 0, wrong = 0, mended = 0, fixes = 0;
};

constexpr int kRanks = 8, kRanksOfExamples = 2;

/// Returns what is wrong with a fix; empty if nothing is.
std::string fault_of(const std::string& text, const Plan& plan, const Diagnostic& said_first, const Fix& fix,
                     int ranks) {
    std::string edited;
    try {
        edited = apply_fix(text, fix);
    } catch (const Error& refused) {
        return "is refused: " + refused.text();
    }
    const Plan after = plan_text(edited, ranks);
    const auto before = what_is_said(plan), now = what_is_said(after);
    if (now.contains({said_first.code, said_first.key, said_first.form})) return "leaves what it is for";
    for (const auto& [said, severity] : now) {
        const auto& [code, key, form] = said;
        const bool named = fix.effect.find(code) != std::string::npos;
        if (!before.contains(said) && severity >= said_first.severity && severity > Severity::Info && !named)
            return "brings " + code + " of " + key + " (" + form + ")";
    }
    if (!only_edits(text, edited, said_first.key, fix)) return "changes other lines";
    for (const Diagnostic& d : after.diagnostics) {
        const auto is_same = [&](const Fix& offered) { return offered.edits == fix.edits; };
        if (std::any_of(d.fixes.begin(), d.fixes.end(), is_same)) return "is offered again, for " + d.code;
    }
    return "";
}

/// Returns what a finding's record lacks in a language; empty if nothing. If the finding lacks a sentence's
/// parameters, the sentence becomes the finding's text or empty.
std::string lack_of(const Diagnostic& d) {
    if (!finding_records().contains(d.code) || d.message.empty()) return d.message.empty() ? "message" : "";
    const bool of_record = d.message == message_in("en", d) && !d.parameters.empty();
    for (const std::string& language : finding_languages()) {
        if (language == "en") continue;
        if (of_record && message_in(language, d) == d.message) return "message in " + language;
        if (of_record && hint_in(language, d).empty() != d.hint.empty()) return "hint in " + language;
    }
    return "";
}

void try_all(const std::string& text, int ranks, Count& count, std::map<std::string, std::string>& faults) {
    const Plan plan = plan_text(text, ranks);
    ++count.mutations;
    if (!plan.ok()) ++count.wrong;
    bool mended = false;
    for (const Diagnostic& d : plan.diagnostics) {
        if (const std::string lack = lack_of(d); !lack.empty())
            faults.emplace(d.code + "." + d.form + " " + d.key + " lacks its " + lack, text);
        for (const Fix& fix : d.fixes) {
            if (fix.edits.empty()) continue;
            ++count.fixes;
            const std::string fault = fault_of(text, plan, d, fix, ranks);
            if (fault.empty()) {
                mended = mended || d.severity == Severity::Error;
            } else {
                faults.emplace(d.code + "." + d.form + " " + d.key + " " + fault,
                               fix.edits[0].key + ": " + fix.edits[0].value + "\n" + text);
            }
        }
    }
    count.mended += mended;
}

TEST(Fixes, APatternWithTheFormerPathOfAnImageModelGetsTodaysPath) {
    const std::string text = config_text(
        "adapter: lora\nlora_r: 16\nlora_alpha: 32\n"
        "lora_target_modules: 'language_model.model.layers.[\\d]+.(mlp|self_attn).(up|q)_proj'\n",
        "google/gemma-3-4b-it");
    const Plan plan = plan_text(text, 1);
    const Diagnostic* none = find(plan, "CFG-VALUE");
    ASSERT_NE(none, nullptr) << said(plan);
    EXPECT_TRUE(plan.ok()) << "the older path names the same modules: " << said(plan);
    ASSERT_FALSE(none->fixes.empty());
    const Plan fixed = plan_text(apply_fix(text, none->fixes[0]), 1);
    EXPECT_TRUE(fixed.ok()) << said(fixed);
    EXPECT_THAT(apply_fix(text, none->fixes[0]), testing::HasSubstr("model.language_model.layers"));
    EXPECT_GT(lora_count(*fixed.model, fixed.config.lora), 0);
    EXPECT_EQ(plan.config.lora.targets, fixed.config.lora.targets);
}

TEST(Fixes, EachMendsWhatItIsForAndSpoilsNothing) {
    Count count;
    std::map<std::string, std::string> faults;
    for (const std::string& file : working_files()) {
        ASSERT_TRUE(plan_text(file, kRanks).ok()) << said(plan_text(file, kRanks)) << file;
        for (const Lines& mutated : mutations(lines_of(file)))
            try_all(text_of(mutated), kRanks, count, faults);
    }
    std::printf("%d mutations, %d of them wrong, %d of those mended by a fix (%.1f %%); %d fixes tried\n",
                count.mutations, count.wrong, count.mended, 100.0 * count.mended / count.wrong, count.fixes);
    for (const auto& [fault, text] : faults) ADD_FAILURE() << fault << "\n" << text;
    EXPECT_GE(count.mutations, 2000);
    EXPECT_GE(count.mended, 0.8 * count.wrong);
}

TEST(Fixes, EachMendsAxolotlsExamplesAndSpoilsNothing) {
    Count count;
    std::map<std::string, std::string> faults;
    for (const auto& [file, text] : axolotl_examples()) try_all(text, kRanksOfExamples, count, faults);
    std::printf("%d files, %d of them wrong, %d of those with a fix for an error; %d fixes tried\n",
                count.mutations, count.wrong, count.mended, count.fixes);
    for (const auto& [fault, text] : faults) ADD_FAILURE() << fault << "\n" << text;
    EXPECT_EQ(count.mutations, 252);
    EXPECT_GT(count.fixes, 0);
}

}  // namespace
}  // namespace ringmaster
