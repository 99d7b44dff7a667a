#include "engine/config/key_history.h"

#include <algorithm>

namespace ringmaster {

extern const std::string_view kAxolotlKeys;  // axolotl_keys.tsv, which CMake embeds as a string

namespace {

std::string_view take_until(std::string_view& rest, char end) {
    const std::string_view part = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
}

std::vector<KeyHistory> read_table(std::string_view table) {
    std::vector<KeyHistory> histories;
    while (!table.empty()) {
        std::string_view line = take_until(table, '\n');
        if (line.empty() || line.front() == '#') continue;
        KeyHistory& history = histories.emplace_back();
        history.key = take_until(line, '\t');
        history.releases = take_until(line, '\t');
        history.replaced_by = line;
    }
    return histories;
}

std::string_view newest_release() {
    static const std::string_view newest = [] {
        const std::string_view releases = history_of("base_model")->releases;
        return releases.substr(releases.rfind('-') + 1);
    }();
    return newest;
}

}  // namespace

const std::vector<KeyHistory>& key_histories() {
    static const std::vector<KeyHistory> histories = read_table(kAxolotlKeys);
    return histories;
}

const KeyHistory* history_of(std::string_view key) {
    const std::vector<KeyHistory>& histories = key_histories();
    const auto at =
        std::lower_bound(histories.begin(), histories.end(), key,
                         [](const KeyHistory& history, std::string_view name) { return history.key < name; });
    return at == histories.end() || at->key != key ? nullptr : &*at;
}

std::string past_of(std::string_view key) {
    const KeyHistory* history = history_of(key);
    if (!history || history->releases.ends_with(newest_release())) return {};
    std::string past = "axolotl " + std::string(history->releases) + " had it";
    if (!history->replaced_by.empty()) past += "; " + std::string(history->replaced_by) + " replaced it";
    return past;
}

}  // namespace ringmaster
