#include "launcher/ssh/aliases.h"

#include <glob.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "engine/error.h"
#include "launcher/ssh/target.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int kMostIncludes = 16;  ///< limit of nested files, as in OpenSSH
constexpr size_t kMostValues = 10'000;
constexpr const char* kSystemConfig = "/etc/ssh/ssh_config";

fs::path ssh_folder() {
    const char* home = std::getenv("HOME");
    return fs::path(home != nullptr ? home : "/") / ".ssh";
}

std::vector<fs::path> files_like(const std::string& pattern) {
    const std::string whole = pattern.starts_with("~/") ? ssh_folder().parent_path() / pattern.substr(2)
                              : fs::path(pattern).is_absolute() ? fs::path(pattern)
                                                                : ssh_folder() / pattern;
    std::vector<fs::path> files;
    glob_t found{};
    if (::glob(whole.c_str(), 0, nullptr, &found) == 0)
        files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    return files;
}

bool is_machine(const std::string& name) {
    try {
        return parse_target(name).host == name;
    } catch (const Error&) {  // a pattern, or a name that ssh itself refuses
        return false;
    }
}

/// Splits "Host a b" or "Host=a" into the keyword, in lower case, and the words.
std::vector<std::string> words_of(std::string line) {
    if (const size_t equals = line.find('='); equals < line.find_first_of(" \t\"")) line[equals] = ' ';
    std::replace(line.begin(), line.end(), '"', ' ');
    std::istringstream parts(line);
    std::vector<std::string> words;
    for (std::string word; parts >> word;) words.push_back(word);
    if (!words.empty())
        std::transform(words[0].begin(), words[0].end(), words[0].begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return words;
}

/// Appends the words after `keyword` in the file and in the files that it includes.
void read(const fs::path& file, const std::string& keyword, int depth, std::vector<std::string>& values) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line) && values.size() < kMostValues;) {
        const std::vector<std::string> words = words_of(line);
        if (words.empty()) continue;
        if (words[0] == keyword) values.insert(values.end(), words.begin() + 1, words.end());
        if (words[0] != "include" || depth >= kMostIncludes) continue;
        for (size_t i = 1; i < words.size(); ++i) {
            for (const fs::path& included : files_like(words[i])) read(included, keyword, depth + 1, values);
        }
    }
}

fs::path person_config() {
    const char* chosen = std::getenv("RINGMASTER_SSH_CONFIG");
    return chosen != nullptr ? fs::path(chosen) : ssh_folder() / "config";
}

}  // namespace

std::vector<std::string> ssh_aliases(const fs::path& file) {
    std::vector<std::string> words, names;
    read(file.empty() ? person_config() : file, "host", 0, words);
    for (const std::string& word : words) {
        if (is_machine(word) && std::find(names.begin(), names.end(), word) == names.end())
            names.push_back(word);
    }
    return names;
}

std::vector<std::string> ssh_config_values(const std::string& keyword) {
    std::vector<std::string> values;
    read(person_config(), keyword, 0, values);
    if (std::getenv("RINGMASTER_SSH_CONFIG") == nullptr) read(kSystemConfig, keyword, 0, values);
    return values;
}

}  // namespace ringmaster
