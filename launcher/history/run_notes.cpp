#include "launcher/history/run_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "launcher/base/bounded_file.h"
#include "launcher/base/files.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostBytes = 4 << 20;

fs::path notes_file(const RunDirectory& run) {
    return run.dir / "notes.json";
}

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t\r\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

RunNotes read_run_notes(const RunDirectory& run) {
    const fs::path file = notes_file(run);
    std::error_code problem;
    if (!fs::exists(fs::symlink_status(file, problem))) return {};
    const nlohmann::json json = try_bounded_json(read_bounded(file, kMostBytes));
    try {
        RunNotes notes;
        notes.text = json.at("notes").get<std::string>();
        notes.tags = json.at("tags").get<std::vector<std::string>>();
        return notes;
    } catch (const nlohmann::json::exception&) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged", file.string(),
                    "it is left as it is until you write notes anew");
    }
}

void write_run_notes(const RunDirectory& run, const RunNotes& notes) {
    if (notes == RunNotes{}) {
        std::error_code problem;
        fs::remove(notes_file(run), problem);
        if (problem)
            throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be removed: " + problem.message(),
                        notes_file(run).string());
        return;
    }
    const nlohmann::json json{{"notes", notes.text}, {"tags", notes.tags}};
    const std::string text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    if (static_cast<int64_t>(text.size()) > kMostBytes)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "the notes are longer than 4 MiB",
                    notes_file(run).string());
    write_file(notes_file(run), text);
}

std::vector<std::string> parse_tags(const std::string& text) {
    std::vector<std::string> tags;
    constexpr std::string_view kWideComma = "\uFF0C";  // the comma that a Chinese keyboard types
    std::string plain = text;
    for (size_t at = plain.find(kWideComma); at != std::string::npos; at = plain.find(kWideComma, at))
        plain.replace(at, kWideComma.size(), ",");
    std::istringstream parts(plain);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::string tag = trimmed(part);
        if (!tag.empty() && std::find(tags.begin(), tags.end(), tag) == tags.end()) tags.push_back(tag);
    }
    return tags;
}

std::string join_tags(const std::vector<std::string>& tags) {
    std::string text;
    for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
    return text;
}

}  // namespace ringmaster
