#include <mutex>

#include "launcher/ssh/session_impl.h"

namespace ringmaster {

namespace {

std::string known_name(const SshSettings& settings) {
    return settings.port == 22 ? settings.host_name
                               : "[" + settings.host_name + "]:" + std::to_string(settings.port);
}

std::string forget_hint(const SshSettings& settings) {
    return "ask whoever runs the machine. If the new key is right: ssh-keygen -f " + settings.known_hosts +
           " -R '" + known_name(settings) + "'";
}

[[noreturn]] void refuse_unknown(const UnknownHostKey& key) {
    throw Error(Failure::Unreachable, "its host key is not known: " + key.type + " " + key.fingerprint,
                key.host,
                "compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_" +
                    (key.type.starts_with("ssh-") ? key.type.substr(4) : std::string("ecdsa")) +
                    "_key.pub` prints there; then trust it (--trust-on-first-use): that adds it to " +
                    key.known_hosts);
}

void remember(SshSession::Impl& session) {
    static std::mutex one_at_a_time;  // hosts are dialled by several threads, and share the file
    const std::lock_guard lock(one_at_a_time);
    if (ssh_session_update_known_hosts(session.get()) != SSH_OK) {
        throw Error(
            Failure::Unreachable,
            "its host key cannot be added to " + session.settings.known_hosts + ": " + session.problem(),
            session.settings.target.text());
    }
}

KeyHandle server_key(const SshSession::Impl& session) {
    ssh_key key = nullptr;
    if (ssh_get_server_publickey(session.get(), &key) != SSH_OK)
        throw Error(Failure::Unreachable, "shows no host key: " + session.problem(),
                    session.settings.target.text());
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
    switch (ssh_session_is_known_server(session.get())) {
        case SSH_KNOWN_HOSTS_OK:
            return;
        case SSH_KNOWN_HOSTS_CHANGED:
            throw Error(
                Failure::Unreachable,
                "its host key has CHANGED: now it is " + shown.type + " " + shown.fingerprint +
                    ". Somebody may stand between, or the machine was set up anew; nothing was sent to it",
                shown.host, forget_hint(session.settings));
        case SSH_KNOWN_HOSTS_OTHER:
            throw Error(Failure::Unreachable,
                        "is known by a host key of another type than it shows now (" + shown.type + " " +
                            shown.fingerprint + "). Somebody may stand between; nothing was sent to it",
                        shown.host, forget_hint(session.settings));
        case SSH_KNOWN_HOSTS_UNKNOWN:
        case SSH_KNOWN_HOSTS_NOT_FOUND:
            if (!person.trust_unknown || !person.trust_unknown(shown)) refuse_unknown(shown);
            remember(session);
            return;
        default:
            throw Error(Failure::Unreachable, "its host key cannot be checked: " + session.problem(),
                        shown.host, "is " + shown.known_hosts + " readable?");
    }
}

}  // namespace ringmaster
