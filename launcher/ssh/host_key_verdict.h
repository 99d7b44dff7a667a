/// Decides whether a host key is good: never where OpenSSH's client would refuse it, and wherever it would
/// accept it but for the settings that the verdict names. Pure: it knows no file, socket or clock. It follows
/// OpenSSH's check_host_key() and order_hostkeyalgs().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/ssh/known_hosts.h"

namespace ringmaster {

/// StrictHostKeyChecking: what becomes of a host without a known key.
enum class NewHostKeys { Ask, Add, Refuse, Unchecked };

/// Whether algorithms of known keys come first: so without HostKeyAlgorithms, or with `+…` or `-…`. `ssh -G`
/// does not tell; Unclear if the files have several forms of it.
enum class AlgorithmOrder { KnownFirst, AsListed, Unclear };

/// What the configuration of SSH says about host keys.
struct HostKeySettings {
    std::vector<std::string> user_files, global_files;  ///< UserKnownHostsFile, GlobalKnownHostsFile
    std::string revoked_file;                           ///< RevokedHostKeys
    std::string alias;                                  ///< HostKeyAlias
    std::string command;                                ///< KnownHostsCommand; not run
    NewHostKeys new_keys = NewHostKeys::Ask;
    bool checks_address = false;          ///< CheckHostIP
    bool hashes_names = false;            ///< HashKnownHosts
    bool trusts_localhost = false;        ///< NoHostAuthenticationForLocalhost; not followed
    bool asks_dns = false;                ///< VerifyHostKeyDNS; not followed
    int smallest_rsa_bits = 1024;         ///< RequiredRSASize
    std::vector<std::string> algorithms;  ///< HostKeyAlgorithms, or the default
    AlgorithmOrder order = AlgorithmOrder::KnownFirst;
};

/// The contents of the files that the settings name.
struct HostKeyFiles {
    std::vector<KnownHostsText> known;  ///< the user's, then the global ones
    std::optional<KnownHostsText> revoked;
};

struct ContactedHost {
    std::string name;  ///< HostName
    int port = 22;
    std::string address;  ///< numeric; empty behind a jump host or a ProxyCommand
};

struct ShownHostKey {
    PublicKey key;
    std::vector<std::string> offered;  ///< all host key algorithms of the server; empty: not known
};

enum class HostKeyStanding {
    Known,
    Unknown,
    Changed,    ///< a key of the same type is known
    OtherType,  ///< only keys of other types are known
    Revoked,
    AddressChanged,  ///< CheckHostIP: the key known for the address is another
    SmallRsa,
    CommandNotRun,       ///< KnownHostsCommand
    RevokedUnreadable,   ///< RevokedHostKeys, or an @revoked line
    RevokedBinary,       ///< RevokedHostKeys names a key revocation list (KRL)
    CertificateNotRead,  ///< the server has a host certificate, whose authority a list of revoked keys may
                         ///< name
};

struct HostKeyVerdict {
    HostKeyStanding standing = HostKeyStanding::Unknown;
    std::string where;  ///< the file and line that decided
    /// Settings by which OpenSSH might accept the key all the same; empty for Known.
    std::vector<std::string> not_followed;
};

/// The name under which a key is looked up and added.
std::string host_key_name(const HostKeySettings& settings, const ContactedHost& host);

/// The algorithms to ask the server for, best first, without certificates. Empty if certificates alone are
/// allowed.
std::vector<std::string> host_key_algorithms(const HostKeySettings& settings, const HostKeyFiles& files,
                                             const ContactedHost& host);

/// The algorithms to connect with instead, if OpenSSH would be shown a key of another type by this server;
/// none if the key is the right one. Empty optional: Unclear orders lead to different types, or only to a
/// certificate.
std::optional<std::vector<std::string>> other_algorithms(const HostKeySettings& settings,
                                                         const HostKeyFiles& files, const ContactedHost& host,
                                                         const ShownHostKey& shown);

HostKeyVerdict judge_host_key(const HostKeySettings& settings, const HostKeyFiles& files,
                              const ContactedHost& host, const ShownHostKey& shown);

}  // namespace ringmaster
