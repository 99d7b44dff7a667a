#include "launcher/alerts/settings.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/control_characters.h"
#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/files/durable.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kMostWords = 64, kLongestWord = 4096, kLongestAddress = 2048;

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& fix) {
    throw Error(Failure::Refused, Code("ALERT-SETTINGS"), what, where, fix);
}

Json member(const Json& object, const char* name, Json::value_t type, const std::string& where) {
    const auto at = object.find(name);
    if (at == object.end()) return {};
    if (at->type() != type)
        refuse(std::string("\"") + name + "\" is not " +
                   (type == Json::value_t::string  ? "a text"
                    : type == Json::value_t::array ? "a list"
                                                   : "true or false"),
               where, "Correct the file, or set the alerts in the app.");
    return *at;
}

std::vector<std::string> words_of(const Json& list, const char* name, const std::string& where) {
    std::vector<std::string> words;
    for (const Json& word : list) {
        if (!word.is_string())
            refuse(std::string("\"") + name + "\" has an entry that is not a text", where,
                   "Put each word in quotes.");
        words.push_back(word.get<std::string>());
    }
    return words;
}

}  // namespace

fs::path alert_settings_file() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && config[0] == '/') return fs::path(config) / "ringmaster/alerts.json";
    const char* home = std::getenv("HOME");
    return fs::path(home == nullptr ? "/" : home) / ".config/ringmaster/alerts.json";
}

fs::path alert_settings_file(const fs::path& run_dir) {
    return run_dir / "alerts.json";
}

AlertSettings parse_alert_settings(std::string_view text, const std::string& where) {
    const Json json = parse_bounded_json(text, where, {kMostBytes, 4, 1000});
    if (!json.is_object())
        refuse("is not a JSON object", where, "Correct the file, or set the alerts in the app.");
    AlertSettings settings;
    if (const Json kinds = member(json, "kinds", Json::value_t::array, where); kinds.is_array()) {
        settings.kinds.clear();
        for (const std::string& name : words_of(kinds, "kinds", where)) {
            const auto kind = alert_kind(name);
            if (!kind)
                refuse("\"kinds\" names an alert that does not exist", where,
                       "Use nan, spike, stall, plateau, slow_rank, failed and completed.");
            settings.kinds.insert(*kind);
        }
    }
    if (const Json desktop = member(json, "desktop", Json::value_t::boolean, where); desktop.is_boolean())
        settings.desktop = desktop.get<bool>();
    if (const Json webhook = member(json, "webhook", Json::value_t::string, where); webhook.is_string())
        settings.webhook = webhook.get<std::string>();
    if (const Json command = member(json, "command", Json::value_t::array, where); command.is_array())
        settings.command = words_of(command, "command", where);
    if (!settings.webhook.empty()) check_webhook(settings.webhook, where);
    if (!settings.command.empty()) check_alert_command(settings.command, where);
    return settings;
}

AlertSettings read_alert_settings(const fs::path& file) {
    std::error_code none;
    if (!fs::is_regular_file(file, none)) return {};
    std::ifstream in(file, std::ios::binary);
    std::string text(kMostBytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(in.gcount()));
    return parse_alert_settings(text, file.string());
}

std::string alert_settings_text(const AlertSettings& settings) {
    Json kinds = Json::array();
    for (const AlertKind kind : settings.kinds) kinds.push_back(to_string(kind));
    const Json json = {{"kinds", kinds},
                       {"desktop", settings.desktop},
                       {"webhook", settings.webhook},
                       {"command", settings.command}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void write_alert_settings(const fs::path& file, const AlertSettings& settings) {
    std::error_code problem;
    fs::create_directories(file.parent_path(), problem);
    ::chmod(file.c_str(), 0600);  // DurableFile keeps the mode of the file that it replaces
    DurableFile out(file, 0600);
    const std::string text = alert_settings_text(settings);
    out.write(text.data(), text.size());
    out.appear();
}

void check_webhook(const std::string& address, const std::string& where) {
    const bool known = address.starts_with("https://") || address.starts_with("http://");
    const size_t host = address.find("://") + 3;
    const bool odd = std::any_of(address.begin(), address.end(),
                                 [](char c) { return c == ' ' || c == '\\' || is_control(c); });
    const bool has_host = known && host < address.size() && address[host] != '/' && address[host] != '?';
    if (!has_host || odd || address.size() > kLongestAddress)
        refuse("the webhook is not an address that begins with https:// or http://", where,
               "Paste the address as the service shows it.");
}

void check_alert_command(const std::vector<std::string>& words, const std::string& where) {
    const bool odd = std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return word.size() > kLongestWord || word.find('\0') != std::string::npos;
    });
    if (words.empty() || words.front().empty() || odd || words.size() > kMostWords)
        refuse("the alert's command is not a program with words of at most 4,096 letters", where,
               "Name a program and its words, or none.");
}

std::vector<std::string> split_command(const std::string& text) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        char c = text[at];
        if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
            in_word = false;
            continue;
        }
        if (!std::exchange(in_word, true)) words.emplace_back();
        if (c == quote && quote != 0) {
            quote = 0;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else {
            if (c == '\\' && quote != '\'' && at + 1 < text.size()) c = text[++at];
            words.back().push_back(c);
        }
    }
    if (quote != 0)
        refuse("a quote of the alert's command is not closed", text,
               std::string("Add the second ") + quote + ".");
    return words;
}

std::string joined_command(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        const bool plain = !word.empty() && std::none_of(word.begin(), word.end(), [](char c) {
            return c == '"' || c == '\'' || c == '\\' || std::isspace(static_cast<unsigned char>(c)) != 0;
        });
        if (!text.empty()) text += ' ';
        if (plain) {
            text += word;
            continue;
        }
        text += '"';
        for (const char c : word) text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
        text += '"';
    }
    return text;
}

}  // namespace ringmaster
