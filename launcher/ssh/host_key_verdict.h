/// Decides if a host key is good. It never accepts a key that OpenSSH's client would refuse. It accepts every
/// key that OpenSSH would accept without the settings in HostKeyVerdict::not_followed. The functions are
/// pure: they use no file, socket or clock. It follows OpenSSH's check_host_key() and order_hostkeyalgs().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/ssh/known_hosts.h"

namespace ringmaster {

/// StrictHostKeyChecking: what happens with a host whose key is unknown.
enum class NewHostKeys { Ask, Add, Refuse, Unchecked };

/// Says if the algorithms of known keys come first: they do if HostKeyAlgorithms is not set, or begins with
/// `+` or `-`. `ssh -G` does not show this. Unclear: the files contain several forms of the setting.
enum class AlgorithmOrder { KnownFirst, AsListed, Unclear };

/// SSH's settings for host keys.
struct HostKeySettings {
    std::vector<std::string> user_files, global_files;  ///< UserKnownHostsFile, GlobalKnownHostsFile
    std::string revoked_file;                           ///< RevokedHostKeys
    std::string alias;                                  ///< HostKeyAlias
    std::string command;                                ///< KnownHostsCommand, which Ringmaster does not run
    NewHostKeys new_keys = NewHostKeys::Ask;
    bool checks_address = false;          ///< CheckHostIP
    bool hashes_names = false;            ///< HashKnownHosts
    bool trusts_localhost = false;        ///< NoHostAuthenticationForLocalhost; not followed, only reported
    bool asks_dns = false;                ///< VerifyHostKeyDNS; not followed, only reported
    int smallest_rsa_bits = 1024;         ///< RequiredRSASize
    std::vector<std::string> algorithms;  ///< HostKeyAlgorithms, or the default
    AlgorithmOrder order = AlgorithmOrder::KnownFirst;
};

/// Contents of the files that the settings name.
struct HostKeyFiles {
    std::vector<KnownHostsText> known;  ///< the user's files, then the global ones
    std::optional<KnownHostsText> revoked;
};

struct ContactedHost {
    std::string name;  ///< HostName
    int port = 22;
    std::string address;  ///< numeric; empty if reached through a jump host or a ProxyCommand
};

struct ShownHostKey {
    PublicKey key;
    std::vector<std::string> offered;  ///< all host key algorithms of the server; empty: unknown
};

enum class HostKeyStanding {
    Known,
    Unknown,
    Changed,    ///< a key of the same type is known
    OtherType,  ///< only keys of other types are known
    Revoked,
    AddressChanged,  ///< CheckHostIP: another key is known for the address
    SmallRsa,
    CommandNotRun,       ///< KnownHostsCommand is set, but Ringmaster does not run it
    RevokedUnreadable,   ///< an entry of RevokedHostKeys or an @revoked line cannot be read
    RevokedBinary,       ///< RevokedHostKeys names a key revocation list (KRL)
    CertificateNotRead,  ///< the server has a host certificate, whose authority a list of revoked keys may
                         ///< name
};

struct HostKeyVerdict {
    HostKeyStanding standing = HostKeyStanding::Unknown;
    std::string where;  ///< file and line that decided
    /// Settings that might make OpenSSH accept the key; empty if Known.
    std::vector<std::string> not_followed;
    std::string file = {};  ///< file of `where`, if the standing is Changed or OtherType
};

/// Returns the name under which a key is looked up and added.
std::string host_key_name(const HostKeySettings& settings, const ContactedHost& host);

/// Returns the algorithms to ask the server for, best first, without certificates. Empty if only certificates
/// are allowed.
std::vector<std::string> host_key_algorithms(const HostKeySettings& settings, const HostKeyFiles& files,
                                             const ContactedHost& host);

/// Returns the algorithms to reconnect with if this server would show OpenSSH a key of another type. Returns
/// an empty list if the shown key is the right one. Returns nullopt if an Unclear order leads to several
/// types, or only to a certificate.
std::optional<std::vector<std::string>> other_algorithms(const HostKeySettings& settings,
                                                         const HostKeyFiles& files, const ContactedHost& host,
                                                         const ShownHostKey& shown);

HostKeyVerdict judge_host_key(const HostKeySettings& settings, const HostKeyFiles& files,
                              const ContactedHost& host, const ShownHostKey& shown);

}  // namespace ringmaster
