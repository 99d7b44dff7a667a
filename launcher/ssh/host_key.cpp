#include "launcher/ssh/host_key.h"

#include <libssh/callbacks.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <system_error>

#include "launcher/ssh/host_key_files.h"

namespace ringmaster {

namespace {

constexpr std::string_view kUnsafeName = "@?*#[]|'\"\\ \t,";  ///< characters with a meaning in known_hosts

KeyHandle server_key(const SshSession::Impl& session) {
    ssh_key key = nullptr;
    if (ssh_get_server_publickey(session.get(), &key) != SSH_OK)
        throw NodeError({"no-host-key", {session.problem()}}, session.settings.target.text());
    return KeyHandle(key);
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
    return text;
}

std::string peer_address(int socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    std::array<char, NI_MAXHOST> text{};
    const bool is_there = ::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                          (address.ss_family == AF_INET || address.ss_family == AF_INET6) &&
                          ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, text.data(), text.size(),
                                        nullptr, 0, NI_NUMERICHOST) == 0;
    return is_there ? text.data() : std::string();
}

ContactedHost contacted(const SshSettings& settings) {
    return {settings.host_name, settings.port, {}};
}

/// Returns the part of the host key file's name that stands for the type.
std::string key_file_kind(const std::string& type) {
    return type.starts_with("ssh-") ? type.substr(4) : "ecdsa";
}

std::string fingerprint_of(ssh_key key) {
    unsigned char* hash = nullptr;
    size_t size = 0;
    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != 0) return "SHA256:?";
    char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
    const std::string fingerprint = text != nullptr ? text : "SHA256:?";
    ssh_string_free_char(text);
    ssh_clean_pubkey_hash(&hash);
    return fingerprint;
}

}  // namespace

OfferedAlgorithms::OfferedAlgorithms() : previous_level_(ssh_get_log_level()) {
    ssh_set_log_userdata(this);
    ssh_set_log_callback(&OfferedAlgorithms::hear);
    ssh_set_log_level(SSH_LOG_FUNCTIONS);
}

OfferedAlgorithms::~OfferedAlgorithms() {
    ssh_set_log_level(previous_level_);
    ssh_set_log_userdata(nullptr);
}

/// Distinguishes two proposals that libssh logs in the same words: only the client's has "ext-info-c".
void OfferedAlgorithms::hear(int, const char*, const char* line, void* self) {
    auto* const me = static_cast<OfferedAlgorithms*>(self);
    if (me == nullptr) return;
    constexpr std::string_view kExchange = "kex algos: ", kKeys = "server host key algo: ";
    const std::string_view text = line;
    if (const size_t at = text.find(kExchange); at != std::string_view::npos)
        me->is_server_ = text.find("ext-info-c", at) == std::string_view::npos;
    const size_t at = text.find(kKeys);
    if (at == std::string_view::npos || !me->is_server_ || !me->names_.empty()) return;
    std::istringstream names{std::string(text.substr(at + kKeys.size()))};
    for (std::string name; std::getline(names, name, ',');) me->names_.push_back(name);
}

HostKeyCheck::HostKeyCheck(const SshSettings& settings)
    : settings_(settings),
      files_(read_host_key_files(settings.host_keys, settings.target.text())),
      algorithms_(host_key_algorithms(settings.host_keys, files_, contacted(settings))) {}

std::string HostKeyCheck::algorithms() const {
    if (algorithms_.empty())
        throw NodeError({"host-key-algorithms", {joined(settings_.host_keys.algorithms, ",")}},
                        settings_.target.text());
    return joined(algorithms_, ",");
}

bool HostKeyCheck::accept(SshSession::Impl& session, const std::vector<std::string>& offered,
                          const SshPerson& person) {
    const KeyHandle key = server_key(session);
    ContactedHost host = contacted(settings_);
    if (settings_.proxy_command.empty()) host.address = peer_address(ssh_get_fd(session.get()));
    const std::optional<PublicKey> parsed = parse_key_blob(key_blob(key.get()));
    if (!parsed) throw NodeError({"no-host-key", {"a key that is not understood"}}, settings_.target.text());
    const ShownHostKey shown_key{*parsed, offered};
    const auto other = other_algorithms(settings_.host_keys, files_, host, shown_key);
    if (!other || (!other->empty() && has_changed_))
        throw NodeError({"host-key-algorithms", {joined(settings_.host_keys.algorithms, ",")}},
                        settings_.target.text());
    if (!other->empty()) {
        algorithms_ = *other;
        has_changed_ = true;
        return false;
    }
    const std::vector<std::string>& files = settings_.host_keys.user_files;
    const UnknownHostKey shown{settings_.target.text(), parsed->type, fingerprint_of(key.get()),
                               files.empty() ? std::string("none") : files.front()};
    const HostKeyVerdict verdict = judge_host_key(settings_.host_keys, files_, host, shown_key);
    if (verdict.standing == HostKeyStanding::Unknown) accept_unknown(verdict, shown, key.get(), person);
    if (verdict.standing != HostKeyStanding::Known && verdict.standing != HostKeyStanding::Unknown)
        refuse(verdict, shown);
    return true;
}

void HostKeyCheck::accept_unknown(const HostKeyVerdict& verdict, const UnknownHostKey& shown, ssh_key key,
                                  const SshPerson& person) const {
    const HostKeySettings& settings = settings_.host_keys;
    const std::string name = host_key_name(settings, contacted(settings_));
    const std::string bare = settings.alias.empty() ? settings_.host_name : settings.alias;
    const bool can_add = !settings.user_files.empty() && bare.find_first_of(kUnsafeName) == std::string::npos;
    const bool is_trusted =
        settings.new_keys == NewHostKeys::Add || (settings.new_keys != NewHostKeys::Refuse && can_add &&
                                                  person.trust_unknown && person.trust_unknown(shown));
    if (!is_trusted || !can_add) refuse(verdict, shown);
    try {
        append_known_host(settings.user_files.front(),
                          (settings.hashes_names ? hashed_host_name(name) : name) + " " + shown.type + " " +
                              encode_base64(key_blob(key)));
    } catch (const std::system_error& problem) {
        throw NodeError({"host-key-not-kept", {shown.known_hosts, problem.code().message()}}, shown.host);
    }
}

void HostKeyCheck::refuse(const HostKeyVerdict& verdict, const UnknownHostKey& shown) const {
    const auto code = [&] {
        switch (verdict.standing) {
            case HostKeyStanding::Changed:
                return "changed-host-key";
            case HostKeyStanding::OtherType:
                return "other-host-key";
            case HostKeyStanding::Revoked:
                return "revoked-host-key";
            case HostKeyStanding::AddressChanged:
                return "changed-address-key";
            case HostKeyStanding::SmallRsa:
                return "small-host-key";
            case HostKeyStanding::CommandNotRun:
                return "known-hosts-command";
            case HostKeyStanding::RevokedUnreadable:
                return "revoked-keys-unreadable";
            case HostKeyStanding::RevokedBinary:
                return "revoked-keys-binary";
            case HostKeyStanding::CertificateNotRead:
                return "revoked-authority";
            default:
                break;
        }
        const HostKeySettings& settings = settings_.host_keys;
        return settings.user_files.empty()                ? "unknown-host-key-no-file"
               : settings.new_keys == NewHostKeys::Refuse ? "unknown-host-key-strict"
                                                          : "unknown-host-key";
    }();
    const bool is_known_somehow =
        verdict.standing == HostKeyStanding::Changed || verdict.standing == HostKeyStanding::OtherType;
    // The parameters are %1 type, %2 fingerprint, then those of the code's sentences.
    std::vector<std::string> with = {shown.type, shown.fingerprint};
    if (verdict.standing == HostKeyStanding::Unknown)
        with.insert(with.end(), {key_file_kind(shown.type), shown.known_hosts});
    else if (is_known_somehow)
        with.insert(with.end(), {verdict.file, host_key_name(settings_.host_keys, contacted(settings_))});
    else
        with.push_back(verdict.where);
    std::vector<NodeFinding> parts;
    if (!verdict.not_followed.empty())
        parts.push_back({"host-key-not-followed", {joined(verdict.not_followed, ", ")}});
    throw NodeError({code, with, parts}, shown.host);
}

}  // namespace ringmaster
