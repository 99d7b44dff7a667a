#include "launcher/rows/prepare_rows.h"

#include <nlohmann/json.hpp>

#include "engine/families/hub_cache.h"
#include "launcher/base/bounded_file.h"
#include "launcher/rows/short_lived_folder.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

/// Returns the folder of the hub's cache that holds the tokenizer.json of a hub id at the file's revision;
/// empty if there is none.
fs::path cached_folder(const std::string& id, const Config& config, const fs::path& cache) {
    const std::string revision = config.tokenization.value("revision_of_model", "");
    for (const fs::path& snapshot : cached_snapshots(id, revision, cache))
        if (fs::exists(snapshot / "tokenizer.json")) return snapshot;
    return {};
}

fs::path tokenizer_folder(const Config& config, const fs::path& cache) {
    std::error_code unknown;
    for (const std::string& name : {config.tokenizer, config.model_dir})
        if (!name.empty() && fs::is_directory(name, unknown)) return name;
    return cached_folder(config.tokenizer, config, cache);
}

/// Reads the rows that the Python step left out or cut; a cache of an earlier version has no such file.
std::vector<LostRow> read_lost(const fs::path& tokens) {
    const fs::path file = tokens.parent_path() / "lost.json";
    std::error_code unknown;
    std::vector<LostRow> lost;
    if (!fs::is_regular_file(file, unknown)) return lost;
    try {
        for (const auto& one : nlohmann::json::parse(read_bounded(file, int64_t{1} << 20)))
            lost.push_back({one.at("place"), one.at("tokens"), one.at("why"), one.value("file", ""),
                            one.value("unit", ""), one.value("number", int64_t{0})});
    } catch (const nlohmann::json::exception&) {  // only the counts are known then, not the examples
        lost.clear();
    }
    return lost;
}

void require_datasets(const Proposal& proposal) {
    if (!proposal.reading.readable) {
        PlanRefused refused(proposal.plan);
        refused.failure = Failure::Usage;
        throw refused;
    }
    const Config& config = proposal.reading.config;
    if (config.policy && config.policy->folder)
        throw Error(Failure::Refused, Code("ROLLOUT-FOLDER"),
                    "the rows come while the run trains, so there are none to show yet",
                    config.policy->folder->path, "launch the run: its events say what it trains on");
    if (config.datasets.empty() && config.dataset_prepared_path.empty())
        throw Error(Failure::Usage, Code("CFG-MISSING"), "names no `datasets`", proposal.request.config);
}

/// Uses the tokenizer with the tokens that the file adds. No resized weights are written, because only the
/// number of tokens matters here.
void grow_tokenizer(Proposal& proposal, const fs::path& folder, const Machine& machine, const Places& places,
                    const Progress& progress) {
    Config& config = proposal.reading.config;
    if (!changes_vocabulary(config)) return;
    if (config.model_dir.empty())
        config.model_dir = cached_folder(config.base_model, config, places.hf_cache_dir).string();
    if (config.model_dir.empty())
        throw Error(Failure::Refused, Code("MODEL-MISSING"),
                    "the file adds tokens to a model that is not on this machine", config.base_model,
                    "`ringmaster prepare` fetches the model");
    config.reinit_weights = true;
    take_grown_model(proposal, folder, machine, places, progress);
}

}  // namespace

RowsToShow prepare_rows(const Request& request, const Machine& machine, const Places& places,
                        const Progress& progress) {
    Proposal proposal = propose(request, machine, places);
    require_datasets(proposal);
    const ShortLivedFolder folder("rows");
    RowsToShow shown;
    grow_tokenizer(proposal, folder.path(), machine, places, progress);
    shown.rows = tokenize_proposal(proposal, folder.path() / "tokenize.json", places, progress);
    shown.lost = read_lost(shown.rows.data.tokens);
    shown.plan = plan_request(request, proposal.reading, machine, places, shown.rows.data.rows,
                              shown.rows.data.eval_rows, shown.rows.shared_prompts);
    shown.plan.data = shown.rows.data;
    const Config& config = proposal.reading.config;
    shown.text = TokenText::read(tokenizer_folder(config, places.hf_cache_dir));
    return shown;
}

}  // namespace ringmaster
