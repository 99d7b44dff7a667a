// Fuzzes known_hosts and RevokedHostKeys: any bytes give a verdict, and a line that revokes the key always
// wins.
#include "launcher/ssh/host_key_verdict.h"
#include "tests/fuzz/input_file.h"

namespace {

using namespace ringmaster;

/// Returns the ed25519 key whose 32 bytes are all 'k'. The corpus has lines with this key.
PublicKey shown_key() {
    const std::optional<PublicKey> key =
        parse_key_blob(std::string("\0\0\0\x0bssh-ed25519\0\0\0\x20", 19) + std::string(32, 'k'));
    fuzz::require(key.has_value());
    return *key;
}

void judge(const HostKeySettings& settings, HostKeyFiles files, const ContactedHost& host) {
    static const PublicKey key = shown_key();
    const ShownHostKey shown{key, {"ssh-ed25519", "rsa-sha2-512"}};
    host_key_algorithms(settings, files, host);
    other_algorithms(settings, files, host, shown);
    const bool is_known = judge_host_key(settings, files, host, shown).standing == HostKeyStanding::Known;
    for (const KnownHost& entry : known_hosts_of(host_key_name(settings, host), files.known)) {
        fuzz::require(entry.key || entry.mark == HostKeyMark::Revoked);
        const bool revokes = entry.mark == HostKeyMark::Revoked && entry.key && entry.key->blob == key.blob;
        fuzz::require(!is_known || !revokes);
        if (!entry.key || entry.key->is_certificate) continue;
        const std::optional<PublicKey> again = parse_key_blob(entry.key->blob);
        fuzz::require(again && again->blob == entry.key->blob && again->type == entry.key->type);
    }
    files.known.push_back({"revoked", "@revoked * ssh-ed25519 " + encode_base64(key.blob)});
    const HostKeyStanding revoked = judge_host_key(settings, files, host, shown).standing;
    fuzz::require(revoked != HostKeyStanding::Known && revoked != HostKeyStanding::Unknown);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    HostKeySettings settings;
    settings.algorithms = {"ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519", "rsa-sha2-512"};
    settings.checks_address = true;
    for (const ContactedHost& host :
         {ContactedHost{"gpu1", 22, "10.0.0.7"}, ContactedHost{"gpu1", 2222, ""}}) {
        judge(settings, {{{"known", text}}, std::nullopt}, host);
        judge(settings, {{{"known", "gpu1 ssh-ed25519 AAAA\n"}}, KnownHostsText{"revoked", text}}, host);
    }
    settings.alias = "node";
    judge(settings, {{{"known", text}}, std::nullopt}, {"gpu1", 22, ""});
    return 0;
}
