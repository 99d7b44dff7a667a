#include "launcher/anywhere/saved_targets.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/base/files.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

Json partition_to_json(const SlurmPartition& partition) {
    return {{"name", partition.name},
            {"default", partition.is_default},
            {"up", partition.is_up},
            {"time_limit", partition.time_limit},
            {"nodes", partition.nodes},
            {"idle", partition.idle},
            {"gres", partition.gres},
            {"cpus", partition.cpus},
            {"memory_bytes", partition.memory_bytes}};
}

SlurmPartition partition_from_json(const Json& json) {
    return {json.at("name"), json.at("default"), json.at("up"),   json.at("time_limit"),  json.at("nodes"),
            json.at("idle"), json.at("gres"),    json.at("cpus"), json.at("memory_bytes")};
}

Json entry_to_json(const SavedTarget& entry) {
    Json json = {{"kind", to_string(entry.target.kind)}, {"host", entry.target.host}};
    if (!entry.last) return json;
    json["checked"] = entry.last->checked;
    json["report"] = report_to_json(entry.last->node);
    json["partitions"] = Json::array();
    for (const SlurmPartition& partition : entry.last->partitions)
        json["partitions"].push_back(partition_to_json(partition));
    return json;
}

SavedTarget entry_from_json(const Json& json) {
    const std::string word = json.at("kind");
    const TargetKind kind = word == "here"  ? TargetKind::Here
                            : word == "ssh" ? TargetKind::Ssh
                                            : TargetKind::Slurm;
    SavedTarget entry{make_target(kind, json.at("host")), std::nullopt};
    if (!json.contains("report")) return entry;
    TargetReport report{report_from_json(json.at("report")), {}, json.at("checked")};
    for (const Json& partition : json.at("partitions"))
        report.partitions.push_back(partition_from_json(partition));
    entry.last = std::move(report);
    return entry;
}

/// Returns an empty list if the file is missing or holds no list.
Json read_list(const fs::path& file) {
    try {
        Json list = Json::parse(read_file(file), nullptr, false);
        return list.is_array() ? list : Json::array();
    } catch (const Error&) {
        return Json::array();
    }
}

}  // namespace

fs::path saved_targets_file(const Places& places) {
    return places.runs_dir.parent_path() / "nodes.json";
}

std::vector<SavedTarget> read_saved_targets(const fs::path& file) {
    std::vector<SavedTarget> entries = {{}};
    for (const Json& json : read_list(file)) {
        try {
            const SavedTarget entry = entry_from_json(json);
            const auto known = std::find_if(entries.begin(), entries.end(), [&](const SavedTarget& one) {
                return one.target == entry.target;
            });
            if (known == entries.end())
                entries.push_back(entry);
            else
                *known = entry;
        } catch (const std::exception&) {  // the file was edited by hand; the user can name the target again
            continue;
        }
    }
    return entries;
}

void write_saved_targets(const fs::path& file, const std::vector<SavedTarget>& entries) {
    Json list = Json::array();
    for (const SavedTarget& entry : entries) list.push_back(entry_to_json(entry));
    make_folder(file.parent_path());
    write_file(file, list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace ringmaster
