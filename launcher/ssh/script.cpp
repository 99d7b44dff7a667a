#include <poll.h>

#include <algorithm>
#include <array>
#include <random>

#include "engine/control_characters.h"
#include "launcher/ssh/session_impl.h"

namespace ringmaster {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

/// Command that starts any script from any login shell. The script follows on stdin as its length and its
/// bytes. The command reads byte by byte, so that the rest of stdin is left for the script.
constexpr const char* kReadScript = R"sh(exec sh -c 'read -r n && eval "$(dd bs=1 count=$n 2>/dev/null)"')sh";
constexpr auto kStartPatience = std::chrono::seconds(30);
constexpr size_t kMostNoise = 1 << 20;
constexpr size_t kKeptErrors = 16 << 10;
constexpr size_t kPiece = 256 << 10;
constexpr size_t kMostAtOnce = 1 << 20;  ///< bytes per read, so that a flood cannot hold up the reader
constexpr size_t kMostEarly = 4 << 20;   ///< maximum bytes of output received during a write
constexpr size_t kMostUnread = 16 << 20;
constexpr int kMostSilences = 10;  ///< a script may take this many times its longest silence

std::string random_mark() {
    std::random_device source;
    std::string mark = "ringmaster-";
    for (int i = 0; i < 32; ++i) mark += "0123456789abcdef"[source() % 16];
    return mark;
}

std::string plain(std::string text) {
    constexpr size_t kShown = 2000;
    if (text.size() > kShown) text = text.substr(text.size() - kShown);
    text = without_controls(std::move(text), ' ', "\n");
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

}  // namespace

struct RemoteScript::Impl {
    SshSession::Impl& session;
    ssh_channel channel = nullptr;
    std::string errors, noise, early;
    bool ended = false;

    explicit Impl(SshSession::Impl& of) : session(of) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (channel != nullptr) ssh_channel_free(channel);
    }

    [[noreturn]] void fail(const NodeFinding& what) const {
        throw NodeError(what, session.settings.target.text());
    }
    [[noreturn]] void fail_as_lost() const { fail({"connection-lost", {session.problem()}}); }

    void open() {
        channel = ssh_channel_new(session.get());
        if (channel == nullptr || ssh_channel_open_session(channel) != SSH_OK)
            fail({"no-channel", {session.problem()}});
        if (ssh_channel_request_exec(channel, kReadScript) != SSH_OK)
            fail({"no-commands", {session.problem()}});
    }

    [[noreturn]] void fail_as_flood(size_t limit) const {
        fail({"talks-too-much", {std::to_string(limit >> 20) + " MiB"}});
    }

    /// Reads without waiting: at most kMostAtOnce bytes each of stdout and stderr.
    bool drain(std::string& out) {
        if (session.given_up && session.given_up())
            fail({"given-up", {session.settings.host_name, std::to_string(session.settings.port)}});
        std::array<char, 65536> buffer;
        bool some = false;
        for (const int is_stderr : {0, 1}) {
            for (size_t taken = 0; taken < kMostAtOnce;) {
                const int got =
                    ssh_channel_read_nonblocking(channel, buffer.data(), buffer.size(), is_stderr);
                if (got == SSH_ERROR && !ssh_channel_is_eof(channel)) fail_as_lost();
                if (got <= 0) break;
                some = true;
                taken += static_cast<size_t>(got);
                (is_stderr != 0 ? errors : out).append(buffer.data(), static_cast<size_t>(got));
            }
        }
        if (errors.size() > kKeptErrors) errors.erase(0, errors.size() - kKeptErrors);
        return some;
    }

    bool read(std::string& out, milliseconds timeout) {
        if (!early.empty()) {  // output received during a write comes before the end
            out += std::exchange(early, {});
            return true;
        }
        if (out.size() > kMostUnread) fail_as_flood(kMostUnread);
        const auto end = Clock::now() + timeout;
        while (!drain(out)) {
            if (ssh_channel_is_eof(channel)) {
                ended = true;
                return false;
            }
            if (!ssh_is_connected(session.get())) fail_as_lost();
            const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
            if (left.count() <= 0) return true;
            wait(std::min(left, milliseconds(200)));  // output on stderr alone does not end the wait
        }
        return true;
    }

    void wait(milliseconds timeout) {
        const int came = ssh_channel_poll_timeout(channel, static_cast<int>(timeout.count()), 0);
        if (came == SSH_ERROR && !ssh_channel_is_eof(channel)) fail_as_lost();
    }

    /// Waits for any message, such as room to write. libssh's wait would not return for such a message, and
    /// so would wait too long.
    void wait_for_anything(milliseconds timeout) {
        pollfd waited{ssh_get_fd(session.get()), POLLIN, 0};
        ::poll(&waited, 1, static_cast<int>(timeout.count()));
    }

    void wait_for(const std::string& mark) {
        const auto end = Clock::now() + kStartPatience;
        std::string said;
        while (true) {
            const bool more = read(said, milliseconds(200));
            if (const size_t at = said.find(mark + "\n"); at != std::string::npos) {
                noise = said.substr(0, at);
                early = said.substr(at + mark.size() + 1);
                return;
            }
            if (!more) fail({"shell-ends", {quoted(said + "\n" + errors), session.settings.target.host}});
            if (said.size() > kMostNoise || Clock::now() > end)
                fail({"shell-hangs", {quoted(said + "\n" + errors)}});
        }
    }

    static std::string quoted(const std::string& said) {
        const std::string text = plain(said);
        return text.empty() || text == "\n" ? std::string() : "; it said:\n" + text;
    }

    bool write(std::string_view bytes, milliseconds patience) {
        auto end = Clock::now() + patience;
        std::string ahead;
        while (!bytes.empty()) {
            if (drain(ahead)) early += std::exchange(ahead, {});
            if (early.size() > kMostEarly) fail_as_flood(kMostEarly);
            if (ssh_channel_is_eof(channel) || ssh_channel_is_closed(channel)) return false;
            const size_t room = ssh_channel_window_size(channel);
            if (room == 0) {
                if (Clock::now() > end) fail({"takes-nothing", {std::to_string(patience.count() / 1000)}});
                wait_for_anything(milliseconds(100));
                continue;
            }
            const size_t piece = std::min({bytes.size(), room, kPiece});
            const int put = ssh_channel_write(channel, bytes.data(), static_cast<uint32_t>(piece));
            if (put < 0) fail_as_lost();
            bytes.remove_prefix(static_cast<size_t>(put));
            end = Clock::now() + patience;
        }
        return true;
    }
};

RemoteScript::RemoteScript(SshSession& session, const std::string& script)
    : impl_(std::make_unique<Impl>(session.impl())) {
    const std::string mark = random_mark();
    const std::string whole = "printf '\\n%s\\n' " + mark + "\n" + script;
    impl_->open();
    impl_->write(std::to_string(whole.size()) + "\n" + whole, kStartPatience);
    impl_->wait_for(mark);
    if (impl_->noise.ends_with("\n")) impl_->noise.pop_back();  // this newline precedes the mark
}

RemoteScript::RemoteScript(RemoteScript&&) noexcept = default;
RemoteScript::~RemoteScript() = default;

bool RemoteScript::write(std::string_view bytes, milliseconds patience) {
    return impl_->write(bytes, patience);
}

void RemoteScript::end_of_input() {
    ssh_channel_send_eof(impl_->channel);
}

bool RemoteScript::read(std::string& out, milliseconds timeout) {
    return impl_->read(out, timeout);
}

std::optional<int> RemoteScript::status() {
    const auto end = Clock::now() + std::chrono::seconds(5);
    while (Clock::now() < end) {
        const int status = ssh_channel_get_exit_status(impl_->channel);
        if (status >= 0) return status;
        if (ssh_channel_is_closed(impl_->channel) || !ssh_is_connected(impl_->session.get())) break;
        ssh_channel_poll_timeout(impl_->channel, 20, 0);
    }
    return std::nullopt;
}

std::string RemoteScript::errors() const {
    return without_controls(impl_->errors, ' ', "\n");
}

const std::string& RemoteScript::noise() const {
    return impl_->noise;
}

ScriptResult run_script(SshSession& session, const std::string& script, std::chrono::seconds silence) {
    RemoteScript remote(session, script);
    remote.end_of_input();
    ScriptResult result;
    auto heard = Clock::now();
    const auto end = heard + kMostSilences * silence;
    size_t size = 0;
    while (remote.read(result.out, milliseconds(500))) {
        if (result.out.size() + remote.errors().size() !=
            std::exchange(size, result.out.size() + remote.errors().size()))
            heard = Clock::now();
        if (Clock::now() - heard > silence || Clock::now() > end) {
            throw NodeError({"command-hangs", {std::to_string(silence.count())}}, session.host());
        }
    }
    result.status = remote.status().value_or(-1);
    result.errors = plain(remote.errors());
    result.noise = remote.noise();
    return result;
}

std::string script_output(SshSession& session, const std::string& script, const std::string& what,
                          std::chrono::seconds silence) {
    const ScriptResult result = run_script(session, script, silence);
    if (result.status == 0) return result.out;
    const bool full = result.errors.find("No space left on device") != std::string::npos;
    throw Error(full ? Failure::Refused : Failure::Unreachable, Code(full ? "DISK-FULL" : "NODE-TRANSFER"),
                what +
                    (full ? ": its disk is full" : ": ended with status " + std::to_string(result.status)) +
                    (result.errors.empty() ? "" : ":\n" + result.errors),
                session.host(), full ? "make room there" : "");
}

}  // namespace ringmaster
