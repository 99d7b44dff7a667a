#include "launcher/ssh/host_key_verdict.h"

#include <algorithm>
#include <set>

namespace ringmaster {

namespace {

constexpr int kDefaultPort = 22;
constexpr std::string_view kKrlMagic = {"SSHKRL\n\0", 8};

using Algorithms = std::vector<std::string>;

bool is_in(const Algorithms& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

/// Returns true for 127.0.0.0/8 and ::1, like OpenSSH's sockaddr_is_local().
bool is_local(const std::string& address) {
    return address.starts_with("127.") || address == "::1";
}

const KnownHost* revoking_line(const std::vector<KnownHost>& entries, const PublicKey& key) {
    const auto at = std::find_if(entries.begin(), entries.end(), [&](const KnownHost& entry) {
        return entry.mark == HostKeyMark::Revoked && entry.key && entry.key->blob == key.blob;
    });
    return at == entries.end() ? nullptr : &*at;
}

/// Returns true if OpenSSH would find a key of the type: it looks only at the first such line.
bool has_known_key_of(const std::string& type, const std::vector<KnownHost>& entries) {
    const auto at = std::find_if(entries.begin(), entries.end(), [&](const KnownHost& entry) {
        return entry.mark == HostKeyMark::None && !entry.key->is_certificate && entry.key->type == type;
    });
    return at != entries.end() && revoking_line(entries, *at->key) == nullptr;
}

const KnownHost* first_authority(const std::vector<KnownHost>& entries) {
    const auto at = std::find_if(entries.begin(), entries.end(),
                                 [](const KnownHost& entry) { return entry.mark == HostKeyMark::Authority; });
    return at == entries.end() ? nullptr : &*at;
}

Algorithms known_first(const Algorithms& all, const std::vector<KnownHost>& entries) {
    if (all.empty() || has_known_key_of(plain_key_type(all.front()), entries)) return all;
    const bool has_authority = first_authority(entries) != nullptr;
    Algorithms sorted = all;
    std::stable_partition(sorted.begin(), sorted.end(), [&](const std::string& name) {
        return (has_authority && is_certificate_type(name)) ||
               has_known_key_of(plain_key_type(name), entries);
    });
    return sorted;
}

Algorithms order_of(const HostKeySettings& settings, const std::vector<KnownHost>& entries, bool as_listed) {
    return as_listed ? settings.algorithms : known_first(settings.algorithms, entries);
}

/// Returns the algorithm that OpenSSH and the server would agree on; empty if there is none.
std::string agreed(const Algorithms& order, const Algorithms& offered) {
    const auto at = std::find_if(order.begin(), order.end(),
                                 [&](const std::string& name) { return is_in(offered, name); });
    return at == order.end() ? std::string() : *at;
}

/// Returns the algorithms of a key type, without certificates, that the settings allow.
Algorithms plain_algorithms(const HostKeySettings& settings, const std::string& type) {
    Algorithms plain;
    for (const std::string& name : settings.algorithms) {
        if (!is_certificate_type(name) && plain_key_type(name) == type) plain.push_back(name);
    }
    return plain;
}

struct Lookup {
    HostKeyStanding standing = HostKeyStanding::Unknown;
    std::string where;
    std::string authority;        ///< first line with an authority
    std::string revokes_another;  ///< line that revokes another key
    std::string file = {};        ///< file of `where`, if it has a known key
};

Lookup look_up(const std::string& name, const HostKeyFiles& files, const PublicKey& key) {
    Lookup found;
    bool has_type = false;
    for (const KnownHost& entry : known_hosts_of(name, files.known)) {
        if (entry.mark == HostKeyMark::Revoked) {
            if (!entry.key) return {HostKeyStanding::RevokedUnreadable, entry.where, {}, {}};
            if (entry.key->blob == key.blob) return {HostKeyStanding::Revoked, entry.where, {}, {}};
            found.revokes_another = entry.where;
        } else if (entry.mark == HostKeyMark::Authority) {
            if (found.authority.empty()) found.authority = entry.where;
        } else if (found.standing != HostKeyStanding::Known) {
            const bool is_it = !entry.key->is_certificate && entry.key->blob == key.blob;
            has_type |= entry.key->type == key.type;
            found.standing = is_it      ? HostKeyStanding::Known
                             : has_type ? HostKeyStanding::Changed
                                        : HostKeyStanding::OtherType;
            found.where = entry.where;
            found.file = entry.file;
        }
    }
    return found;
}

/// Looks the key up in RevokedHostKeys, one key per line. Unknown means that the file does not list it.
Lookup look_in_revoked(const KnownHostsText& file, const PublicKey& key) {
    if (file.text.starts_with(kKrlMagic)) return {HostKeyStanding::RevokedBinary, file.path, {}, {}};
    Lookup found;
    std::string_view rest = file.text;
    for (size_t number = 1; !rest.empty(); ++number) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        line = line.substr(0, line.find('\0'));
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (line.empty() || line[0] == '#') continue;
        const std::string where = file.path + ", line " + std::to_string(number);
        const std::optional<PublicKey> revoked = parse_key_text(line);
        if (!revoked) return {HostKeyStanding::RevokedUnreadable, where, {}, {}};
        if (revoked->blob == key.blob) return {HostKeyStanding::Revoked, where, {}, {}};
        found.revokes_another = where;
    }
    return found;
}

/// Looks the key up under the host's name, and then without the port if nothing is known under that name. For
/// a certificate, OpenSSH also omits the port if it knows other keys but no authority under the name.
Lookup look_up_host(const HostKeySettings& settings, const HostKeyFiles& files, const ContactedHost& host,
                    const PublicKey& key, bool is_certified) {
    const Lookup found = look_up(host_key_name(settings, host), files, key);
    const bool is_unknown = found.standing == HostKeyStanding::Unknown;
    const bool knows_others =
        found.standing == HostKeyStanding::Changed || found.standing == HostKeyStanding::OtherType;
    const bool looks_further = is_unknown || (knows_others && is_certified && found.authority.empty());
    if (!looks_further || !settings.alias.empty() || host.port == kDefaultPort) return found;
    Lookup plain = look_up(known_hosts_name(host.name, kDefaultPort), files, key);
    if (plain.authority.empty()) plain.authority = found.authority;
    if (plain.revokes_another.empty()) plain.revokes_another = found.revokes_another;
    if (plain.standing == HostKeyStanding::Changed || plain.standing == HostKeyStanding::OtherType ||
        plain.standing == HostKeyStanding::Unknown) {
        plain.standing = found.standing;
        plain.where = found.where;
        plain.file = found.file;
    }
    return plain;
}

/// Looks the key up under the machine's address (CheckHostIP); Unknown if the settings do not ask for it.
Lookup look_up_address(const HostKeySettings& settings, const HostKeyFiles& files, const ContactedHost& host,
                       const PublicKey& key) {
    const std::string address = known_hosts_name(host.address, host.port);
    const bool is_asked = settings.checks_address && !host.address.empty() && !is_local(host.address) &&
                          address != known_hosts_name(host.name, kDefaultPort);
    return is_asked ? look_up(address, files, key) : Lookup{};
}

/// Says if the server would show OpenSSH a certificate for the key.
enum class Certified { No, Yes, Unclear };

Certified certified(const HostKeySettings& settings, const std::vector<KnownHost>& entries,
                    const ShownHostKey& shown) {
    if (shown.offered.empty()) return Certified::Unclear;
    const auto is_under = [&](bool as_listed) {
        return is_certificate_type(agreed(order_of(settings, entries, as_listed), shown.offered));
    };
    const bool is_one = is_under(settings.order == AlgorithmOrder::AsListed);
    if (settings.order == AlgorithmOrder::Unclear && is_under(true) != is_one) return Certified::Unclear;
    return is_one ? Certified::Yes : Certified::No;
}

std::vector<std::string> not_followed(const HostKeySettings& settings, const ContactedHost& host,
                                      const std::string& authority) {
    std::vector<std::string> names;
    if (!authority.empty()) names.push_back("@cert-authority (" + authority + ")");
    if (settings.new_keys == NewHostKeys::Unchecked) names.push_back("StrictHostKeyChecking no");
    if (settings.trusts_localhost && is_local(host.address) && settings.alias.empty())
        names.push_back("NoHostAuthenticationForLocalhost yes");
    if (settings.asks_dns) names.push_back("VerifyHostKeyDNS");
    return names;
}

}  // namespace

std::string host_key_name(const HostKeySettings& settings, const ContactedHost& host) {
    return settings.alias.empty() ? known_hosts_name(host.name, host.port) : settings.alias;
}

std::vector<std::string> host_key_algorithms(const HostKeySettings& settings, const HostKeyFiles& files,
                                             const ContactedHost& host) {
    const std::vector<KnownHost> entries = known_hosts_of(host_key_name(settings, host), files.known);
    Algorithms asked;
    for (const std::string& name : order_of(settings, entries, settings.order == AlgorithmOrder::AsListed)) {
        for (const std::string& plain : plain_algorithms(settings, plain_key_type(name))) {
            if (!is_in(asked, plain)) asked.push_back(plain);
        }
    }
    return asked;
}

std::optional<std::vector<std::string>> other_algorithms(const HostKeySettings& settings,
                                                         const HostKeyFiles& files, const ContactedHost& host,
                                                         const ShownHostKey& shown) {
    if (shown.offered.empty()) return Algorithms{};
    const std::vector<KnownHost> entries = known_hosts_of(host_key_name(settings, host), files.known);
    std::set<std::string> types;
    if (settings.order != AlgorithmOrder::AsListed)
        types.insert(plain_key_type(agreed(order_of(settings, entries, false), shown.offered)));
    if (settings.order != AlgorithmOrder::KnownFirst)
        types.insert(plain_key_type(agreed(order_of(settings, entries, true), shown.offered)));
    if (types.size() > 1) return std::nullopt;
    if (types.contains(shown.key.type)) return Algorithms{};
    Algorithms plain = plain_algorithms(settings, *types.begin());
    return plain.empty() ? std::nullopt : std::optional(std::move(plain));
}

HostKeyVerdict judge_host_key(const HostKeySettings& settings, const HostKeyFiles& files,
                              const ContactedHost& host, const ShownHostKey& shown) {
    if (!settings.command.empty()) return {HostKeyStanding::CommandNotRun, settings.command, {}};
    const int bits = shown.key.rsa_bits();
    if (bits > 0 && bits < settings.smallest_rsa_bits)
        return {HostKeyStanding::SmallRsa, std::to_string(bits), {}};
    const Lookup in_revoked = files.revoked ? look_in_revoked(*files.revoked, shown.key) : Lookup{};
    if (in_revoked.standing != HostKeyStanding::Unknown) return {in_revoked.standing, in_revoked.where, {}};
    const Certified is_certified =
        certified(settings, known_hosts_of(host_key_name(settings, host), files.known), shown);
    const Lookup found = look_up_host(settings, files, host, shown.key, is_certified == Certified::Yes);
    HostKeyVerdict verdict{found.standing, found.where, not_followed(settings, host, found.authority),
                           found.file};
    if (found.standing != HostKeyStanding::Known && found.standing != HostKeyStanding::Unknown)
        return verdict;
    const std::string& revoked =
        found.revokes_another.empty() ? in_revoked.revokes_another : found.revokes_another;
    if (!revoked.empty() && is_certified != Certified::No)
        return {HostKeyStanding::CertificateNotRead, revoked, {}};
    // OpenSSH does not check the address of a host that shows a certificate.
    const Lookup address =
        is_certified == Certified::Yes ? Lookup{} : look_up_address(settings, files, host, shown.key);
    switch (address.standing) {
        case HostKeyStanding::Changed:
        case HostKeyStanding::OtherType:
            return {HostKeyStanding::AddressChanged, address.where, verdict.not_followed};
        case HostKeyStanding::Revoked:
        case HostKeyStanding::RevokedUnreadable:
            return {address.standing, address.where, verdict.not_followed};
        default:
            break;
    }
    if (verdict.standing == HostKeyStanding::Known) verdict.not_followed.clear();
    return verdict;
}

}  // namespace ringmaster
