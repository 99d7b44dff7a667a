#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "launcher/ssh/key_agent.h"
#include "launcher/ssh/public_key.h"
#include "launcher/ssh/session_impl.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int kPromptTries = 3;
constexpr auto kAnswerPatience = std::chrono::seconds(120);  ///< the user may have to touch a second factor
constexpr int kLook_ms = 50;
constexpr int kMostSteps = 6;  ///< limit of factors in one login

/// Returns null for a key type that libssh does not know.
KeyHandle key_of_blob(const std::string& blob) {
    if (blob.size() < 8 || static_cast<unsigned char>(blob[3]) > blob.size() - 4) return nullptr;
    const std::string type = blob.substr(4, static_cast<unsigned char>(blob[3]));
    ssh_key key = nullptr;
    const bool good = ssh_pki_import_pubkey_base64(encode_base64(blob).c_str(),
                                                   ssh_key_type_from_name(type.c_str()), &key) == SSH_OK;
    return KeyHandle(good ? key : nullptr);
}

struct IdentityFile {
    std::string path;
    KeyHandle public_key;  ///< null if there is no readable .pub file
    std::string blob;
};

std::vector<IdentityFile> identity_files(const SshSettings& settings) {
    std::vector<IdentityFile> files;
    std::error_code unknown;
    for (const std::string& path : settings.identity_files) {
        const bool has_public = fs::exists(path + ".pub", unknown);
        if (!has_public && !fs::exists(path, unknown)) continue;
        IdentityFile& file = files.emplace_back();
        file.path = path;
        ssh_key key = nullptr;
        if (has_public && ssh_pki_import_pubkey_file((path + ".pub").c_str(), &key) == SSH_OK) {
            file.public_key.reset(key);
            file.blob = key_blob(key);
        }
    }
    return files;
}

/// Performs one login and records what it tried.
class Login {
  public:
    Login(SshSession::Impl& session, const SshPerson& person) : session_(session), person_(person) {}

    void run() {
        int result = asked([&] { return ssh_userauth_none(session_.get(), nullptr); });
        for (int step = 0; step < kMostSteps && result != SSH_AUTH_SUCCESS; ++step) {
            methods_ = ssh_userauth_list(session_.get(), nullptr);
            result = try_methods();
            if (result == SSH_AUTH_DENIED) refuse();
        }
        if (result != SSH_AUTH_SUCCESS) refuse();
    }

  private:
    bool takes(int method) const { return (methods_ & method) != 0; }

    int try_methods() {
        const SshSettings& settings = session_.settings;
        int result = SSH_AUTH_DENIED;
        if (takes(SSH_AUTH_METHOD_PUBLICKEY) && settings.uses_public_keys) result = try_keys();
        if (result == SSH_AUTH_DENIED && takes(SSH_AUTH_METHOD_INTERACTIVE) && settings.uses_keyboard)
            result = try_keyboard();
        if (result == SSH_AUTH_DENIED && takes(SSH_AUTH_METHOD_PASSWORD) && settings.uses_password)
            result = try_password();
        return result;
    }

    /// Repeats a call until it has an answer, since libssh would not notice a connection that is closed.
    template <class Call>
    int asked(const Call& call) {
        const auto end = std::chrono::steady_clock::now() + kAnswerPatience;
        ssh_set_blocking(session_.get(), 0);
        int result = call();
        while (result == SSH_AUTH_AGAIN) {
            if (ssh_is_connected(session_.get()) == 0 || std::chrono::steady_clock::now() > end) {
                result = SSH_AUTH_ERROR;
                break;
            }
            pollfd ready{ssh_get_fd(session_.get()), POLLIN, 0};
            ::poll(&ready, 1, kLook_ms);
            result = call();
        }
        ssh_set_blocking(session_.get(), 1);
        return checked(result);
    }

    /// Returns `result`. Throws if it is SSH_AUTH_ERROR, because the connection has then ended.
    int checked(int result) {
        if (result != SSH_AUTH_ERROR) return result;
        const std::string problem = session_.problem(), host = session_.settings.target.text();
        const bool too_many = problem.find("Too many authentication failures") != std::string::npos;
        if (too_many && passwords_ + answers_ == 0)
            throw NodeError({"too-many-keys", {std::to_string(offered_)}, tried()}, host);
        if (too_many) throw NodeError({"too-many-tries", {host}, tried()}, host);
        throw NodeError({"login-ended", {problem}, tried()}, host);
    }

    int try_keys() {
        const std::vector<IdentityFile> files = identity_files(session_.settings);
        int result = try_agent(files);
        for (const IdentityFile& file : files) {
            if (result != SSH_AUTH_DENIED) break;
            if (std::find(in_agent_.begin(), in_agent_.end(), file.blob) == in_agent_.end())
                result = try_file(file);
        }
        return result;
    }

    int try_agent(const std::vector<IdentityFile>& files) {
        const SshSettings& settings = session_.settings;
        const char* variable = std::getenv("SSH_AUTH_SOCK");
        const std::string socket =
            settings.identity_agent.empty() ? (variable != nullptr ? variable : "") : settings.identity_agent;
        if (agent_tried_ || socket.empty() || socket == "none") return SSH_AUTH_DENIED;
        agent_tried_ = true;
        std::vector<std::string> wanted;
        for (const IdentityFile& file : files) {
            if (!file.blob.empty()) wanted.push_back(file.blob);
        }
        KeyAgent agent(socket, wanted, settings.identities_only);
        if (agent.keys().empty()) return SSH_AUTH_DENIED;
        int refused = 0;
        for (const AgentKey& key : agent.keys()) {
            const KeyHandle shown = key_of_blob(key.blob);
            if (!shown) continue;
            in_agent_.push_back(key.blob);
            ++offered_;
            const int known =
                asked([&] { return ssh_userauth_try_publickey(session_.get(), nullptr, shown.get()); });
            if (known == SSH_AUTH_SUCCESS) {
                ssh_set_agent_socket(session_.get(), agent.socket_for(key));
                return asked([&] { return ssh_userauth_agent(session_.get(), nullptr); });
            }
            ++refused;
        }
        if (refused == 1)
            tried_.push_back({"tried-agent-key"});
        else
            tried_.push_back({"tried-agent-keys", {std::to_string(refused)}});
        return SSH_AUTH_DENIED;
    }

    int try_file(const IdentityFile& file) {
        if (file.public_key) {
            ++offered_;
            const int known = asked(
                [&] { return ssh_userauth_try_publickey(session_.get(), nullptr, file.public_key.get()); });
            if (known != SSH_AUTH_SUCCESS) {
                tried_.push_back({"tried-key", {file.path}});
                return known;
            }
        }
        const KeyHandle key = private_key(file.path);
        if (!key) return SSH_AUTH_DENIED;
        if (!file.public_key) ++offered_;
        const int result = asked([&] { return ssh_userauth_publickey(session_.get(), nullptr, key.get()); });
        if (result == SSH_AUTH_DENIED) tried_.push_back({"tried-key", {file.path}});
        return result;
    }

    KeyHandle private_key(const std::string& path) {
        ssh_key key = nullptr;
        std::error_code unknown;
        if (!fs::exists(path, unknown)) {
            tried_.push_back({"tried-half-key", {path}});
            return nullptr;
        }
        bool asked = false;
        const auto no_passphrase = [](const char*, char*, size_t, int, int, void* was_asked) {
            *static_cast<bool*>(was_asked) = true;
            return -1;
        };
        if (ssh_pki_import_privkey_file(path.c_str(), nullptr, no_passphrase, &asked, &key) == SSH_OK)
            return KeyHandle(key);
        if (!asked) {
            tried_.push_back({"tried-no-key", {path}});
            return nullptr;
        }
        for (int i = 0; i < kPromptTries; ++i) {
            const auto passphrase = ask("passphrase of " + path + ": ", PromptKind::Passphrase, path);
            if (!passphrase) break;
            if (ssh_pki_import_privkey_file(path.c_str(), passphrase->c_str(), nullptr, nullptr, &key) ==
                SSH_OK)
                return KeyHandle(key);
        }
        tried_.push_back({"tried-locked-key", {path}});
        return nullptr;
    }

    int try_keyboard() {
        for (int i = 0; i < kPromptTries; ++i) {
            int result = asked([&] { return ssh_userauth_kbdint(session_.get(), nullptr, nullptr); });
            while (result == SSH_AUTH_INFO) {
                if (!answer_prompts()) return SSH_AUTH_DENIED;
                result = asked([&] { return ssh_userauth_kbdint(session_.get(), nullptr, nullptr); });
            }
            if (result != SSH_AUTH_DENIED) return result;
            ++answers_;
            if (!person_.ask) break;
        }
        return SSH_AUTH_DENIED;
    }

    bool answer_prompts() {
        const int count = ssh_userauth_kbdint_getnprompts(session_.get());
        const char* said = ssh_userauth_kbdint_getinstruction(session_.get());
        std::string instruction = said != nullptr ? said : "";
        for (int i = 0; i < count; ++i) {
            char echo = 0;
            const char* text = ssh_userauth_kbdint_getprompt(session_.get(), static_cast<unsigned>(i), &echo);
            const std::string prompt =
                (instruction.empty() ? "" : instruction + "\n") + (text != nullptr ? text : "");
            instruction.clear();
            const auto answer = ask(prompt, PromptKind::Server, {}, echo != 0);
            if (!answer) {
                tried_.push_back({"tried-keyboard-alone"});
                is_unanswered_ = true;
                return false;
            }
            ssh_userauth_kbdint_setanswer(session_.get(), static_cast<unsigned>(i), answer->c_str());
        }
        return true;
    }

    int try_password() {
        for (int i = 0; i < kPromptTries; ++i) {
            const auto password =
                ask("password of " + session_.settings.user + " on " + session_.settings.target.text() + ": ",
                    PromptKind::Password, session_.settings.user);
            if (!password) {
                tried_.push_back({"tried-password-alone"});
                is_unanswered_ = true;
                return SSH_AUTH_DENIED;
            }
            const int result =
                asked([&] { return ssh_userauth_password(session_.get(), nullptr, password->c_str()); });
            if (result != SSH_AUTH_DENIED) return result;
            ++passwords_;
        }
        return SSH_AUTH_DENIED;
    }

    std::optional<std::string> ask(const std::string& text, PromptKind kind, const std::string& of,
                                   bool echo = false) {
        if (!person_.ask) return std::nullopt;
        return person_.ask(
            {session_.settings.target.text(), text, kind == PromptKind::Server, echo, kind, of});
    }

    std::string taken_methods() const {
        std::string list;
        constexpr std::array<std::pair<int, const char*>, 5> names = {
            {{SSH_AUTH_METHOD_PUBLICKEY, "publickey"},
             {SSH_AUTH_METHOD_INTERACTIVE, "keyboard-interactive"},
             {SSH_AUTH_METHOD_PASSWORD, "password"},
             {SSH_AUTH_METHOD_HOSTBASED, "hostbased"},
             {SSH_AUTH_METHOD_GSSAPI_MIC, "gssapi-with-mic"}}};
        for (const auto& [method, name] : names) {
            if (takes(method)) list += (list.empty() ? "" : ", ") + std::string(name);
        }
        return list.empty() ? "nothing that is known here" : list;
    }

    std::vector<NodeFinding> tried() const {
        std::vector<NodeFinding> all = tried_;
        const auto add = [&](const std::string& what, int times) {
            if (times == 1) all.push_back({what});
            if (times > 1) all.push_back({what + "-often", {std::to_string(times)}});
        };
        add("tried-keyboard", answers_);
        add("tried-password", passwords_);
        if (all.empty()) all.push_back({"tried-nothing"});
        return all;
    }

    /// Throws a NodeError with the finding that helps the user most.
    [[noreturn]] void refuse() {
        const std::string host = session_.settings.target.text();
        const std::string user = session_.settings.user.empty() ? "this user" : session_.settings.user;
        const bool tried_any = !tried_.empty() || answers_ + passwords_ > 0;
        const char* code = passwords_ > 0   ? "wrong-password"
                           : answers_ > 0   ? "wrong-answer"
                           : is_unanswered_ ? "nobody-answers"
                           : tried_any      ? "login-refused"
                                            : "login-without-key";
        throw NodeError(
            {code, {user, taken_methods(), host}, tried_any ? tried() : std::vector<NodeFinding>()}, host);
    }

    SshSession::Impl& session_;
    const SshPerson& person_;
    int methods_ = 0;
    int offered_ = 0;
    int answers_ = 0, passwords_ = 0;  ///< answers and passwords that were refused
    bool agent_tried_ = false;
    bool is_unanswered_ = false;  ///< nobody answered a prompt
    std::vector<std::string> in_agent_;
    std::vector<NodeFinding> tried_;
};

}  // namespace

std::string key_blob(ssh_key key) {
    char* text = nullptr;
    if (ssh_pki_export_pubkey_base64(key, &text) != SSH_OK) return {};
    const std::optional<std::string> blob = decode_base64(text);
    ssh_string_free_char(text);
    return blob.value_or(std::string());
}

void log_in(SshSession::Impl& session, const SshPerson& person) {
    Login(session, person).run();
}

}  // namespace ringmaster
