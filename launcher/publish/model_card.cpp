#include "launcher/publish/model_card.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "engine/config/document.h"
#include "engine/error.h"
#include "engine/families/hub_cache.h"
#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/bounded_file.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/base/secrets.h"
#include "launcher/history/figures.h"
#include "launcher/history/run_details.h"
#include "launcher/history/run_table.h"
#include "launcher/publish/loss_picture.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Returns whether a name is "owner/name" on the hub, and not a folder next to the configuration.
bool is_of_hub(const Config& config, const std::string& name) {
    std::error_code none;
    return is_hub_id(name) && name.find('/') != std::string::npos &&
           !fs::exists(fs::path(config.base_dir) / name, none);
}

std::string method_of(const Config& config) {
    if (config.policy) return "grpo";
    if (config.preference.on()) return to_string(config.preference.method);
    return config.token_labels > 0 ? "process reward" : "sft";
}

std::string last_part(const std::string& path) {
    const fs::path all(path);
    return (all.has_filename() ? all.filename() : all.parent_path().filename()).string();
}

std::string base_of(const Config& config) {
    return is_of_hub(config, config.base_model) ? config.base_model : last_part(config.base_model);
}

std::vector<std::string> datasets_of_hub(const Config& config) {
    std::vector<std::string> names;
    for (const json& entry : config.datasets) {
        const std::string path = entry.value("path", std::string());
        if (is_of_hub(config, path)) names.push_back(path);
    }
    return names;
}

/// Quotes a value as a JSON string, which is also valid YAML.
std::string quoted(const std::string& text) {
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string metadata(const Config& config) {
    std::string yaml = "---\n";
    if (is_of_hub(config, config.base_model)) yaml += "base_model: " + quoted(config.base_model) + "\n";
    yaml += std::string("library_name: ") + (config.lora.on() ? "peft" : "transformers") + "\n";
    if (!config.preference.scores() && config.token_labels == 0) yaml += "pipeline_tag: text-generation\n";
    yaml += "tags:\n- ringmaster\n- " + method_of(config) + "\n";
    if (config.lora.on()) yaml += "- lora\n";
    const std::vector<std::string> datasets = datasets_of_hub(config);
    if (!datasets.empty()) yaml += "datasets:\n";
    for (const std::string& name : datasets) yaml += "- " + quoted(name) + "\n";
    return yaml + "---\n\n";
}

/// Makes a Markdown table without a header row. Escapes `|` in values, because it would end the cell.
class Rows {
  public:
    void add(const std::string& name, std::string value) {
        for (size_t bar = 0; (bar = value.find('|', bar)) != std::string::npos; bar += 2)
            value.insert(bar, "\\");
        text_ += "| " + name + " | " + value + " |\n";
    }
    std::string text() const { return "| | |\n|---|---|\n" + text_ + "\n"; }

  private:
    std::string text_;
};

std::string trained_of(const Config& config) {
    if (!config.lora.on()) return "all weights";
    return "LoRA, rank " + format_count(config.lora.r) + ", alpha " + format_number(config.lora.alpha, 4);
}

void add_evaluations(const RunHistory& history, Rows& rows) {
    if (history.evaluations().empty()) return;
    const auto text = [](const auto& entry) {
        return format_loss(entry.second.second.loss) + " after step " + format_count(entry.first);
    };
    const auto best = std::ranges::min_element(history.evaluations(), {},
                                               [](const auto& entry) { return entry.second.second.loss; });
    std::string line = text(*history.evaluations().rbegin());
    if (best->first != history.evaluations().rbegin()->first) line += "; the lowest " + text(*best);
    rows.add("Evaluation loss", line);
}

std::string figures(const Plan& plan, const RunHistory& history) {
    const Config& config = plan.config;
    Rows rows;
    rows.add("Base model", base_of(config));
    rows.add("Method", method_of(config) + ", " + trained_of(config));
    rows.add("Ranks", format_count(plan.ranks) + " on " + format_count(plan.nodes) +
                          (plan.nodes == 1 ? " node" : " nodes") + ", " + to_string(plan.device));
    rows.add("Sequence", format_count(config.sequence_len) + " tokens" +
                             (plan.mesh.context_parallel_size() > 1
                                  ? " over " + format_count(plan.mesh.context_parallel_size()) + " ranks (" +
                                        to_string(plan.context_parallel.layout) + ")"
                                  : ""));
    rows.add("Batch",
             format_count(plan.batch.global) + (plan.batch.global == 1 ? " row" : " rows") + " a step");
    rows.add("Precision", to_string(config.precision));
    rows.add("Optimizer", config.optimizer + ", learning rate " + format_number(config.learning_rate, 6) +
                              ", " + to_string(config.lr_scheduler));
    const Headline now = headline(history, plan.batch.total_steps);
    rows.add("Steps", format_count(now.step) +
                          (now.total_steps ? " of " + format_count(*now.total_steps) : std::string()));
    if (const auto seconds = history.duration_s(history.last_heard()))
        rows.add("Time", format_duration(*seconds));
    if (now.tokens_per_s) rows.add("Speed", format_rate(*now.tokens_per_s) + " tokens/s");
    if (now.loss) rows.add("Loss of the last step", format_loss(*now.loss));
    add_evaluations(history, rows);
    return rows.text();
}

std::string data(const Plan& plan) {
    std::string text = "## Data\n\n";
    for (const json& entry : plan.config.datasets) {
        const std::string path = entry.value("path", std::string());
        const json type = entry.value("type", json());
        text += "- " + (is_of_hub(plan.config, path) ? path : last_part(path)) +
                (type.is_string() && !type.get<std::string>().empty() ? " (`" + type.get<std::string>() + "`)"
                                                                      : "") +
                "\n";
    }
    text += "\n" + format_count(plan.data.rows) + " rows to train on";
    if (plan.data.eval_rows > 0) text += ", " + format_count(plan.data.eval_rows) + " to evaluate on";
    return text + ".\n\n";
}

/// Says what the preflight compared before the first step, and its largest differences.
std::string proof(const RunDirectory& run) {
    std::string text = "## Proof\n\n";
    json report;
    std::error_code none;
    if (fs::exists(run.preflight(), none))
        report = json::parse(read_bounded(run.preflight(), kMaxConfigBytes), nullptr, false);
    if (!report.is_object() || !report.value("ok", false))
        return text + "The run was started without comparing its ranks with one rank.\n\n";
    double largest = 0;
    for (const json& gradient : report.value("gradients", json::array()))
        largest = std::max(largest, gradient.value("relative_error", 0.0));
    const json loss = report.value("loss", json::object());
    return text + "Before the first step the run computed " + format_count(report.value("rows", int64_t{0})) +
           " of its rows twice: on its ranks, and on one rank without sharding. The losses were " +
           format_number(loss.value("mesh", 0.0), 9) + " and " +
           format_number(loss.value("reference", 0.0), 9) +
           "; the gradients of all weights differed by at most " + format_number(largest, 2) +
           " of their norm. No token saw another document or a later token.\n\n";
}

std::string configuration(const RunDirectory& run) {
    const std::string text = duplicate_of(run).text;
    std::set<std::string> known = secrets_of_environment();
    known.merge(secrets_of_document(text));
    const std::string shown = without_secrets(text, known);
    std::string fence = "```";
    while (shown.find(fence) != std::string::npos) fence += "`";
    return "## Configuration\n\n<details><summary>The run's YAML</summary>\n\n" + fence + "yaml\n" + shown +
           (shown.ends_with('\n') ? "" : "\n") + fence + "\n\n</details>\n";
}

}  // namespace

ModelCard model_card(const RunDirectory& run, const std::string& title) {
    const Plan plan = read_plan(run.plan().string());
    RunHistory history(run);
    while (!history.poll().empty()) continue;
    ModelCard card;
    card.picture = loss_picture(history);
    card.text =
        metadata(plan.config) + "# " + (title.empty() ? run.name() : title) + "\n\n" + figures(plan, history);
    if (!card.picture.empty()) card.text += std::string("![Loss by step](") + kPictureName + ")\n\n";
    card.text += data(plan) + proof(run) + configuration(run);
    return card;
}

void write_card(const ModelCard& card, const fs::path& folder, bool overwrite) {
    const fs::path file = folder / "README.md";
    std::error_code none;
    if (!overwrite && fs::exists(file, none))
        throw Error(Failure::Refused, Code("FILE-WRITE"), "is there already", file.string(),
                    "--overwrite replaces it");
    write_file(file, card.text);
    if (!card.picture.empty()) write_file(folder / kPictureName, card.picture);
}

}  // namespace ringmaster
