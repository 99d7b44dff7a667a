#include <mutex>

#include "launcher/ssh/session_impl.h"

namespace ringmaster {

namespace {

std::string known_name(const SshSettings& settings) {
    return settings.port == 22 ? settings.host_name
                               : "[" + settings.host_name + "]:" + std::to_string(settings.port);
}

[[noreturn]] void refuse_unknown(const UnknownHostKey& key) {
    const std::string kind = key.type.starts_with("ssh-") ? key.type.substr(4) : std::string("ecdsa");
    throw NodeError({"unknown-host-key", {key.type, key.fingerprint, kind, key.known_hosts}}, key.host);
}

void remember(SshSession::Impl& session) {
    static std::mutex one_at_a_time;  // hosts are dialled by several threads, and share the file
    const std::lock_guard lock(one_at_a_time);
    if (ssh_session_update_known_hosts(session.get()) != SSH_OK) {
        throw NodeError({"host-key-not-kept", {session.settings.known_hosts, session.problem()}},
                        session.settings.target.text());
    }
}

KeyHandle server_key(const SshSession::Impl& session) {
    ssh_key key = nullptr;
    if (ssh_get_server_publickey(session.get(), &key) != SSH_OK)
        throw NodeError({"no-host-key", {session.problem()}}, session.settings.target.text());
    return KeyHandle(key);
}

}  // namespace

std::string key_type(ssh_key key) {
    return ssh_key_type_to_char(ssh_key_type(key));
}

std::string key_fingerprint(ssh_key key) {
    unsigned char* hash = nullptr;
    size_t size = 0;
    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != 0) return "SHA256:?";
    char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
    const std::string fingerprint = text != nullptr ? text : "SHA256:?";
    ssh_string_free_char(text);
    ssh_clean_pubkey_hash(&hash);
    return fingerprint;
}

void check_host_key(SshSession::Impl& session, const SshPerson& person) {
    const KeyHandle key = server_key(session);
    const UnknownHostKey shown{session.settings.target.text(), key_type(key.get()),
                               key_fingerprint(key.get()), session.settings.known_hosts};
    const std::vector<std::string> as_shown = {shown.type, shown.fingerprint, shown.known_hosts,
                                               known_name(session.settings)};
    switch (ssh_session_is_known_server(session.get())) {
        case SSH_KNOWN_HOSTS_OK:
            return;
        case SSH_KNOWN_HOSTS_CHANGED:
            throw NodeError({"changed-host-key", as_shown}, shown.host);
        case SSH_KNOWN_HOSTS_OTHER:
            throw NodeError({"other-host-key", as_shown}, shown.host);
        case SSH_KNOWN_HOSTS_UNKNOWN:
        case SSH_KNOWN_HOSTS_NOT_FOUND:
            if (!person.trust_unknown || !person.trust_unknown(shown)) refuse_unknown(shown);
            remember(session);
            return;
        default:
            throw NodeError({"unchecked-host-key", {session.problem(), shown.known_hosts}}, shown.host);
    }
}

}  // namespace ringmaster
