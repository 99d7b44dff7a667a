/// Runs an SSH server in this process, with libssh. The test chooses what a login asks; an accepted login
/// gets sh, as on a real server.
#pragma once

#include <libssh/libssh.h>
#include <libssh/server.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ringmaster {

/// Describes a round of a keyboard-interactive login: the server's question and the right answer.
struct LoginRound {
    std::string instruction, prompt;
    bool echo = false;
    std::string right;
};

struct LoginRules {
    std::string password;            ///< empty: password logins are refused
    std::vector<LoginRound> rounds;  ///< empty: no keyboard-interactive
};

class SshServer {
  public:
    explicit SshServer(LoginRules rules) : rules_(std::move(rules)), bind_(ssh_bind_new()) {
        const unsigned any = 0;
        ssh_key key = nullptr;
        ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key);
        remember(key);
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_BINDADDR, "127.0.0.1");
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_BINDPORT, &any);
        ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_IMPORT_KEY, key);
        if (ssh_bind_listen(bind_) != SSH_OK) throw std::runtime_error(ssh_get_error(bind_));
        sockaddr_in address{};
        socklen_t size = sizeof address;
        ::getsockname(ssh_bind_get_fd(bind_), reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    SshServer(const SshServer&) = delete;
    SshServer& operator=(const SshServer&) = delete;
    ~SshServer() {
        ending_ = true;
        if (const int client = client_; client >= 0) ::shutdown(client, SHUT_RDWR);
        thread_.join();
        ssh_bind_free(bind_);
    }

    int port() const { return port_; }
    const std::string& fingerprint() const { return fingerprint_; }
    std::string known_hosts_line() const {
        return "[127.0.0.1]:" + std::to_string(port_) + " ssh-ed25519 " + public_key_ + "\n";
    }
    int asked() const { return asked_; }  ///< login attempts other than "none"

  private:
    void remember(ssh_key key) {
        char* text = nullptr;
        ssh_pki_export_pubkey_base64(key, &text);
        public_key_ = text;
        ssh_string_free_char(text);
        unsigned char* hash = nullptr;
        size_t size = 0;
        ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size);
        char* shown = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size);
        fingerprint_ = shown;
        ssh_string_free_char(shown);
        ssh_clean_pubkey_hash(&hash);
    }

    void serve() {
        while (!ending_) {
            pollfd ready{ssh_bind_get_fd(bind_), POLLIN, 0};
            if (::poll(&ready, 1, 50) <= 0) continue;
            ssh_session session = ssh_new();
            if (ssh_bind_accept(bind_, session) == SSH_OK) {
                client_ = ssh_get_fd(session);
                if (ssh_handle_key_exchange(session) == SSH_OK) converse(session);
                client_ = -1;
            }
            ssh_disconnect(session);
            ssh_free(session);
        }
    }

    int methods() const {
        return (rules_.password.empty() ? 0 : SSH_AUTH_METHOD_PASSWORD) |
               (rules_.rounds.empty() ? 0 : SSH_AUTH_METHOD_INTERACTIVE);
    }

    void converse(ssh_session session) {
        ssh_channel channel = nullptr;
        size_t round = 0;
        while (ssh_message message = ssh_message_get(session)) {
            const int type = ssh_message_type(message), subtype = ssh_message_subtype(message);
            if (type == SSH_REQUEST_AUTH) {
                log_in(session, message, subtype, round);
            } else if (type == SSH_REQUEST_CHANNEL_OPEN && subtype == SSH_CHANNEL_SESSION) {
                channel = ssh_message_channel_request_open_reply_accept(message);
            } else if (type == SSH_REQUEST_CHANNEL && subtype == SSH_CHANNEL_REQUEST_EXEC) {
                const std::string command = ssh_message_channel_request_command(message);
                ssh_message_channel_request_reply_success(message);
                ssh_message_free(message);
                run(channel, command);
                return;  // a check runs only one command
            } else {
                ssh_message_reply_default(message);
            }
            ssh_message_free(message);
        }
    }

    static std::string password_of(ssh_message message) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the replacement needs callbacks
        const char* password = ssh_message_auth_password(message);
#pragma GCC diagnostic pop
        return password != nullptr ? password : "";
    }

    void log_in(ssh_session session, ssh_message message, int method, size_t& round) {
        asked_ += method != SSH_AUTH_METHOD_NONE;
        if (method == SSH_AUTH_METHOD_PASSWORD && password_of(message) == rules_.password) {
            ssh_message_auth_reply_success(message, 0);
            return;
        }
        if (method == SSH_AUTH_METHOD_INTERACTIVE && !rules_.rounds.empty()) {
            const bool answers = ssh_message_auth_kbdint_is_response(message) != 0;
            if (!answers) round = 0;
            const bool right = answers && ssh_userauth_kbdint_getnanswers(session) == 1 &&
                               ssh_userauth_kbdint_getanswer(session, 0) == rules_.rounds[round].right;
            if (right && ++round == rules_.rounds.size()) {
                ssh_message_auth_reply_success(message, 0);
                return;
            }
            if (!answers || right) {
                const LoginRound& next = rules_.rounds[round];
                std::array<const char*, 1> prompts = {next.prompt.c_str()};
                std::array<char, 1> echo = {next.echo ? char{1} : char{0}};
                ssh_message_auth_interactive_request(message, "", next.instruction.c_str(), 1, prompts.data(),
                                                     echo.data());
                return;
            }
        }
        ssh_message_auth_set_methods(message, methods());
        ssh_message_reply_default(message);
    }

    /// Runs a shell command with its stdin and stdout connected to the channel.
    static void run(ssh_channel channel, const std::string& command) {
        int in[2], out[2];
        if (::pipe(in) != 0 || ::pipe(out) != 0) throw std::runtime_error("pipe");
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(in[0], 0);
            ::dup2(out[1], 1);
            ::dup2(out[1], 2);
            for (int fd = 3; fd < 256; ++fd) ::close(fd);
            ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        shuttle(channel, in[1], out[0]);
        ::close(out[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        ssh_channel_request_send_exit_status(channel, WIFEXITED(status) ? WEXITSTATUS(status) : 255);
        ssh_channel_send_eof(channel);
        ssh_channel_close(channel);
    }

    static void shuttle(ssh_channel channel, int to, int from) {
        std::array<char, 16384> buffer;
        bool open = true;
        while (ssh_channel_is_open(channel)) {
            const int got = ssh_channel_read_nonblocking(channel, buffer.data(), buffer.size(), 0);
            if (got > 0) {
                for (int done = 0; done < got;) {
                    const ssize_t put = ::write(to, buffer.data() + done, static_cast<size_t>(got - done));
                    if (put <= 0) break;
                    done += static_cast<int>(put);
                }
            }
            if (open && (got == SSH_EOF || got < 0 || ssh_channel_is_eof(channel))) {
                ::close(to);
                open = false;
            }
            pollfd ready{from, POLLIN, 0};
            if (::poll(&ready, 1, got > 0 ? 0 : 10) <= 0) continue;
            const ssize_t said = ::read(from, buffer.data(), buffer.size());
            if (said <= 0) break;
            ssh_channel_write(channel, buffer.data(), static_cast<uint32_t>(said));
        }
        if (open) ::close(to);
    }

    LoginRules rules_;
    ssh_bind bind_;
    int port_ = 0;
    std::string fingerprint_, public_key_;
    std::atomic<int> asked_ = 0, client_ = -1;
    std::atomic<bool> ending_ = false;
    std::thread thread_;
};

}  // namespace ringmaster
