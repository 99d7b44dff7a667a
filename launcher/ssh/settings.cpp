#include "launcher/ssh/settings.h"

#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "launcher/ssh/aliases.h"
#include "launcher/ssh/finding.h"

namespace ringmaster {

namespace {

using Directives = std::map<std::string, std::vector<std::string>>;

constexpr std::array kHonoured = {"host",
                                  "hostname",
                                  "user",
                                  "port",
                                  "addressfamily",
                                  "connecttimeout",
                                  "identityfile",
                                  "identitiesonly",
                                  "identityagent",
                                  "proxyjump",
                                  "proxycommand",
                                  "userknownhostsfile",
                                  "ciphers",
                                  "kexalgorithms",
                                  "macs",
                                  "globalknownhostsfile",
                                  "batchmode",
                                  "logverbose",
                                  "loglevel",
                                  "pubkeyauthentication",
                                  "sendenv",
                                  "tcpkeepalive",
                                  "kbdinteractiveauthentication",
                                  "passwordauthentication",
                                  "hashknownhosts",
                                  "hostkeyalias",
                                  "checkhostip",
                                  "stricthostkeychecking",
                                  "revokedhostkeys",
                                  "requiredrsasize",
                                  "serveraliveinterval",
                                  "serveralivecountmax",
                                  "hostkeyalgorithms",
                                  "canonicalizefallbacklocal"};

Directives parse(const std::string& text) {
    Directives found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t blank = line.find(' ');
        if (blank != std::string::npos) found[line.substr(0, blank)].push_back(line.substr(blank + 1));
    }
    return found;
}

std::string first_of(const Directives& all, const std::string& name) {
    const auto at = all.find(name);
    return at == all.end() ? std::string() : at->second.front();
}

std::string home() {
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
    const passwd* entry = ::getpwuid(::getuid());
    return entry != nullptr ? entry->pw_dir : "/";
}

std::string expanded(const std::string& path) {
    if (path.starts_with("~/")) return home() + path.substr(1);
    if (!path.starts_with('~')) return path;
    const size_t end = std::min(path.find('/'), path.size());
    const passwd* entry = ::getpwnam(path.substr(1, end - 1).c_str());
    return entry != nullptr ? entry->pw_dir + path.substr(end) : path;
}

std::vector<std::string> split(const std::string& list, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(list);
    for (std::string part; std::getline(in, part, separator);) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

/// Splits a list of files from `ssh -G`. Throws if a path may contain a space and so look like two paths.
std::vector<std::string> files_of(const std::string& list, const char* name, const SshTarget& target) {
    std::vector<std::string> files;
    if (list == "none") return files;
    const std::vector<std::string> parts = split(list, ' ');
    for (size_t i = 0; i < parts.size(); ++i) {
        files.push_back(expanded(parts[i]));
        std::string joined = files.back();
        for (size_t j = i + 1; j < parts.size(); ++j) {
            joined += " " + parts[j];
            if (::access(joined.c_str(), F_OK) == 0)
                throw NodeError(
                    {"unchecked-host-key", {std::string(name) + " has a blank in a path", joined}},
                    target.text());
        }
    }
    return files;
}

/// Returns the value if the configuration sets it, which means that it differs from the default; else "".
std::string if_named(const Directives& effective, const Directives& defaults, const std::string& name) {
    const std::string value = first_of(effective, name);
    return value == first_of(defaults, name) ? std::string() : value;
}

std::vector<SshTarget> parse_jumps(const std::string& list) {
    std::vector<SshTarget> jumps;
    if (list.empty() || list == "none") return jumps;
    for (const std::string& part : split(list, ','))
        jumps.push_back(parse_target(part.starts_with("ssh://") ? part.substr(6) : part));
    return jumps;
}

std::vector<std::string> ignored_directives(const Directives& effective, const Directives& defaults) {
    std::vector<std::string> ignored;
    for (const auto& [name, values] : effective) {
        const auto standard = defaults.find(name);
        const bool is_set = standard == defaults.end() || standard->second != values;
        if (!is_set || std::find(kHonoured.begin(), kHonoured.end(), name) != kHonoured.end()) continue;
        for (const std::string& value : values) ignored.push_back(name + " " + value);
    }
    return ignored;
}

struct Said {
    int status = -1;  ///< status from waitpid; -1: not started
    std::string out;  ///< stdout and stderr together
};

Said output_of(const std::vector<std::string>& arguments) {
    std::vector<char*> words;
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_adddup2(&files, ends[1], 2);
    pid_t child = -1;
    const int problem = ::posix_spawnp(&child, words[0], &files, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);
    Said said;
    std::array<char, 4096> buffer;
    for (ssize_t got; problem == 0 && (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
        said.out.append(buffer.data(), static_cast<size_t>(got));
    ::close(ends[0]);
    if (problem == 0) ::waitpid(child, &said.status, 0);
    return said;
}

std::vector<std::string> ssh_g(const SshTarget& target, const std::string& file) {
    std::vector<std::string> words = {"ssh", "-G"};
    if (!file.empty()) words.insert(words.end(), {"-F", file});
    if (!target.user.empty()) words.insert(words.end(), {"-l", target.user});
    if (target.port) words.insert(words.end(), {"-p", std::to_string(*target.port)});
    words.insert(words.end(), {"--", target.host});
    return words;
}

/// Returns the settings without OpenSSH: what the user typed, and the usual files.
SshSettings plain_settings(const SshTarget& target) {
    SshSettings plain;
    plain.target = target;
    plain.host_name = target.host;
    plain.user = target.user;
    plain.port = target.port.value_or(22);
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"})
        plain.identity_files.push_back(home() + "/.ssh/" + name);
    plain.host_keys.user_files = {home() + "/.ssh/known_hosts", home() + "/.ssh/known_hosts2"};
    plain.host_keys.global_files = {"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"};
    plain.host_keys.algorithms = {"ssh-ed25519",         "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
                                  "ecdsa-sha2-nistp521", "rsa-sha2-512",        "rsa-sha2-256"};
    plain.ignored = {"all of ~/.ssh/config: it is read by OpenSSH's ssh, which is not installed here"};
    return plain;
}

NewHostKeys new_host_keys(const std::string& strict) {
    if (strict == "yes" || strict == "true") return NewHostKeys::Refuse;
    if (strict == "no" || strict == "off" || strict == "false") return NewHostKeys::Unchecked;
    return strict == "accept-new" ? NewHostKeys::Add : NewHostKeys::Ask;
}

/// Finds the algorithms' order. `ssh -G` prints the same list whether names replace the default or edit it.
AlgorithmOrder algorithm_order(bool is_default, const std::vector<std::string>& written) {
    const auto edits = [](const std::string& text) { return text.starts_with('+') || text.starts_with('-'); };
    if (std::all_of(written.begin(), written.end(), edits)) return AlgorithmOrder::KnownFirst;
    return is_default || std::any_of(written.begin(), written.end(), edits) ? AlgorithmOrder::Unclear
                                                                            : AlgorithmOrder::AsListed;
}

HostKeySettings host_key_settings(const SshTarget& target, const Directives& effective,
                                  const Directives& defaults, const std::vector<std::string>& written) {
    const auto text = [&](const char* name) {
        const std::string value = first_of(effective, name);
        return value == "none" ? std::string() : value;
    };
    const auto is_set = [&](const char* name) {
        const std::string value = text(name);
        return !value.empty() && value != "no" && value != "false";
    };
    HostKeySettings keys;
    keys.user_files = files_of(first_of(effective, "userknownhostsfile"), "UserKnownHostsFile", target);
    keys.global_files = files_of(first_of(effective, "globalknownhostsfile"), "GlobalKnownHostsFile", target);
    keys.revoked_file = text("revokedhostkeys");
    keys.alias = text("hostkeyalias");
    keys.command = text("knownhostscommand");
    keys.new_keys = new_host_keys(first_of(effective, "stricthostkeychecking"));
    keys.checks_address = is_set("checkhostip");
    keys.hashes_names = is_set("hashknownhosts");
    keys.trusts_localhost = is_set("nohostauthenticationforlocalhost");
    keys.asks_dns = is_set("verifyhostkeydns");
    keys.smallest_rsa_bits = std::max(keys.smallest_rsa_bits, std::atoi(text("requiredrsasize").c_str()));
    keys.algorithms = split(text("hostkeyalgorithms"), ',');
    keys.order = algorithm_order(if_named(effective, defaults, "hostkeyalgorithms").empty(), written);
    return keys;
}

}  // namespace

SshSettings parse_ssh_g(const SshTarget& target, const std::string& effective_text,
                        const std::string& default_text, const std::vector<std::string>& written_algorithms) {
    const Directives effective = parse(effective_text);
    const Directives defaults = parse(default_text);
    SshSettings settings;
    settings.target = target;
    settings.host_name = first_of(effective, "hostname");
    settings.user = first_of(effective, "user");
    check_host_name(settings.host_name, target.text() + ": HostName of ~/.ssh/config");
    check_user_name(settings.user, target.text() + ": User of ~/.ssh/config");
    settings.port = std::atoi(first_of(effective, "port").c_str());
    settings.address_family = first_of(effective, "addressfamily");
    if (const int seconds = std::atoi(first_of(effective, "connecttimeout").c_str()); seconds > 0)
        settings.connect_timeout_s = seconds;
    if (const auto files = effective.find("identityfile"); files != effective.end()) {
        for (const std::string& file : files->second) settings.identity_files.push_back(expanded(file));
    }
    settings.identities_only = first_of(effective, "identitiesonly") == "yes";
    settings.identity_agent = expanded(first_of(effective, "identityagent"));
    if (settings.identity_agent == "SSH_AUTH_SOCK") settings.identity_agent.clear();
    settings.host_keys = host_key_settings(target, effective, defaults, written_algorithms);
    settings.jumps = parse_jumps(first_of(effective, "proxyjump"));
    settings.proxy_command = first_of(effective, "proxycommand");
    if (settings.proxy_command == "none") settings.proxy_command.clear();
    const auto says_no = [&](const char* name) {
        return first_of(effective, name) == "no" || first_of(effective, name) == "false";
    };
    settings.uses_public_keys = !says_no("pubkeyauthentication");
    settings.uses_keyboard = !says_no("kbdinteractiveauthentication");
    settings.uses_password = !says_no("passwordauthentication");
    settings.ciphers = if_named(effective, defaults, "ciphers");
    settings.key_exchange = if_named(effective, defaults, "kexalgorithms");
    settings.macs = if_named(effective, defaults, "macs");
    settings.ignored = ignored_directives(effective, defaults);
    return settings;
}

SshSettings ssh_settings(const SshTarget& target) {
    const char* file = std::getenv("RINGMASTER_SSH_CONFIG");
    const Said effective = output_of(ssh_g(target, file != nullptr ? file : ""));
    if (effective.status == -1 || (WIFEXITED(effective.status) && WEXITSTATUS(effective.status) == 127))
        return plain_settings(target);
    if (effective.status != 0) {
        throw NodeError({"ssh-config", {effective.out.substr(0, 1000), target.host}}, target.text());
    }
    return parse_ssh_g(target, effective.out, output_of(ssh_g(target, "none")).out,
                       ssh_config_values("hostkeyalgorithms"));
}

}  // namespace ringmaster
