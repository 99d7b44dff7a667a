/// Defines the settings of a run's alerts, kept in the file alerts.json of this user or of one run.
///
///     {"kinds": ["nan", "spike", …], "desktop": true, "webhook": "https://…", "command": ["program", "word",
///     …]}
///
/// This user's file (alert_settings_file) applies to runs that are made after it was written. Each run has a
/// copy, which its node 0 reads. A webhook's address is often a secret, so only this user can read the files.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/alerts/alert.h"

namespace ringmaster {

struct AlertSettings {
    std::set<AlertKind> kinds{kAlertKinds.begin(), kAlertKinds.end()};
    bool desktop = true;               ///< the app shows alerts on the desktop
    std::string webhook;               ///< http(s) address that gets a POST with JSON; empty: none
    std::vector<std::string> command;  ///< program and words, without a shell; empty: none

    bool is_delivered() const { return !webhook.empty() || !command.empty(); }
    bool operator==(const AlertSettings&) const = default;
};

/// Returns ${XDG_CONFIG_HOME:-~/.config}/ringmaster/alerts.json.
std::filesystem::path alert_settings_file();
/// Returns RUN/alerts.json.
std::filesystem::path alert_settings_file(const std::filesystem::path& run_dir);

/// Reads a file of settings; returns the defaults if there is none. Throws Error(Refused) if it is damaged or
/// has a value that cannot be used.
AlertSettings read_alert_settings(const std::filesystem::path& file);
AlertSettings parse_alert_settings(std::string_view text, const std::string& where);

std::string alert_settings_text(const AlertSettings& settings);
/// Writes the file with mode 0600, and its folder if needed. Throws Error(Refused).
void write_alert_settings(const std::filesystem::path& file, const AlertSettings& settings);

/// Throws Error(Refused) unless the text is an http or https address without spaces or control characters.
void check_webhook(const std::string& address, const std::string& where);
/// Throws Error(Refused) unless the words can be given to a program.
void check_alert_command(const std::vector<std::string>& words, const std::string& where);

/// Splits a text into words at spaces. Quotes and backslashes keep spaces as in a shell, but no shell runs.
/// Throws Error(Refused) if a quote is not closed.
std::vector<std::string> split_command(const std::string& text);
/// Returns the text that split_command splits into these words.
std::string joined_command(const std::vector<std::string>& words);

}  // namespace ringmaster
