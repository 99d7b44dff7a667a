#include "launcher/ssh/session.h"

#include <algorithm>

#include "engine/control_characters.h"
#include "launcher/ssh/host_key.h"
#include "launcher/ssh/jump.h"
#include "launcher/ssh/session_impl.h"

namespace ringmaster {

namespace {

constexpr int kMeeting_s = 20;  ///< limit for the key exchange and each answer at login

/// Default order of ciphers: authenticated ones with hardware support come first.
constexpr const char* kCiphers =
    "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes256-ctr,aes192-ctr,"
    "aes128-ctr";

void set(ssh_session session, ssh_options_e option, const void* value, const SshSettings& settings,
         const char* name) {
    if (ssh_options_set(session, option, value) < 0) {
        throw Error(Failure::Usage, Code("NODE-UNREACHABLE"),
                    std::string(name) + " cannot be used: " + ssh_get_error(session), settings.target.text(),
                    "`ssh -G " + settings.target.host + "` shows the configuration");
    }
}

void set_text(ssh_session session, ssh_options_e option, const std::string& value,
              const SshSettings& settings, const char* name) {
    if (!value.empty()) set(session, option, value.c_str(), settings, name);
}

void configure(ssh_session session, const SshSettings& settings) {
    const bool no = false;
    const long timeout = kMeeting_s;
    const auto port = static_cast<unsigned>(settings.port);
    // libssh must not read the configuration, because `ssh -G` has already read it
    set(session, SSH_OPTIONS_PROCESS_CONFIG, &no, settings, "the configuration");
    set(session, SSH_OPTIONS_HOST, settings.host_name.c_str(), settings, "HostName");
    set(session, SSH_OPTIONS_PORT, &port, settings, "Port");
    set(session, SSH_OPTIONS_TIMEOUT, &timeout, settings, "ConnectTimeout");
    set_text(session, SSH_OPTIONS_USER, settings.user, settings, "User");
    set(session, SSH_OPTIONS_KNOWNHOSTS, "/dev/null", settings,
        "UserKnownHostsFile");  // HostKeyCheck reads these files
    set(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null", settings, "GlobalKnownHostsFile");
    set(session, SSH_OPTIONS_RSA_MIN_SIZE, &settings.host_keys.smallest_rsa_bits, settings,
        "RequiredRSASize");
    const std::string ciphers = settings.ciphers.empty() ? kCiphers : settings.ciphers;
    set_text(session, SSH_OPTIONS_CIPHERS_C_S, ciphers, settings, "Ciphers");
    set_text(session, SSH_OPTIONS_CIPHERS_S_C, ciphers, settings, "Ciphers");
    set_text(session, SSH_OPTIONS_KEY_EXCHANGE, settings.key_exchange, settings, "KexAlgorithms");
    set_text(session, SSH_OPTIONS_HMAC_C_S, settings.macs, settings, "MACs");
    set_text(session, SSH_OPTIONS_HMAC_S_C, settings.macs, settings, "MACs");
    set_text(session, SSH_OPTIONS_PROXYCOMMAND, settings.proxy_command, settings, "ProxyCommand");
}

}  // namespace

std::string SshSession::Impl::problem() const {
    const std::string text = without_controls(ssh_get_error(handle.get()));
    return text.empty() ? "no reason was given" : text;
}

namespace {

/// Connects and exchanges keys; does not check the host key. `offered` receives the server's key algorithms.
std::unique_ptr<SshSession::Impl> connected(const SshSettings& settings, const SshPerson& person, int depth,
                                            const std::string& host_key_algorithms,
                                            std::vector<std::string>& offered) {
    auto impl = std::make_unique<SshSession::Impl>();
    impl->settings = settings;
    impl->handle.reset(ssh_new());
    if (!impl->handle)
        throw Error(Failure::Unreachable, Code("NODE-UNREACHABLE"), "no memory for a session",
                    settings.target.text());
    configure(impl->get(), settings);
    set(impl->get(), SSH_OPTIONS_HOSTKEYS, host_key_algorithms.c_str(), settings, "HostKeyAlgorithms");
    if (settings.proxy_command.empty()) {
        OwnedSocket socket;
        if (settings.jumps.empty()) {
            socket = connect_to(settings, person.given_up);
        } else {
            impl->jump = jump_through(settings, person, depth, socket);
        }
        if (person.given_up)
            impl->canceller = std::make_unique<ConnectionCanceller>(socket.get(), person.given_up);
        const socket_t fd = socket.release();
        set(impl->get(), SSH_OPTIONS_FD, &fd, settings, "the connection");
    }
    const OfferedAlgorithms heard;
    if (ssh_connect(impl->get()) != SSH_OK) {
        throw NodeError(
            {"not-ssh",
             {settings.host_name, std::to_string(settings.port), impl->problem(), settings.target.text()}},
            settings.target.text());
    }
    offered = heard.names();
    return impl;
}

}  // namespace

std::unique_ptr<SshSession::Impl> open_session(const SshSettings& settings, const SshPerson& person,
                                               int depth) {
    HostKeyCheck check(settings);
    while (true) {
        std::vector<std::string> offered;
        auto impl = connected(settings, person, depth, check.algorithms(), offered);
        if (!check.accept(*impl, offered, person)) continue;
        log_in(*impl, person);
        return impl;
    }
}

SshSession::SshSession(const SshSettings& settings, const SshPerson& person)
    : impl_(open_session(settings, person, 0)) {}
SshSession::SshSession(SshSession&&) noexcept = default;
SshSession::~SshSession() = default;

void SshSession::give_up_when(std::function<bool()> given_up) {
    impl_->given_up = std::move(given_up);
}

std::string SshSession::host() const {
    return impl_->settings.target.text();
}

}  // namespace ringmaster
