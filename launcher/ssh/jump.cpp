#include "launcher/ssh/jump.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>

namespace ringmaster {

namespace {

constexpr int kMostJumps = 8;
constexpr int kLook_ms = 1000;

}  // namespace

Jump::Jump(std::unique_ptr<SshSession::Impl> through, const SshSettings& to) : through_(std::move(through)) {
    channel_ = ssh_channel_new(through_->get());
    if (channel_ == nullptr ||
        ssh_channel_open_forward(channel_, to.host_name.c_str(), to.port, "127.0.0.1", 0) != SSH_OK) {
        const std::string problem = through_->problem();
        if (channel_ != nullptr) ssh_channel_free(channel_);
        throw NodeError({"jump-blocked",
                         {through_->settings.target.text(), to.host_name, std::to_string(to.port), problem}},
                        to.target.text());
    }
    std::tie(ours_, theirs_) = socket_pair();
    thread_ = std::thread([this] { pass_on(); });
}

Jump::~Jump() {
    ::shutdown(theirs_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ssh_channel_free(channel_);
}

/// Passes on everything that the channel has received. Returns false at the channel's end.
bool Jump::pass_in() {
    std::array<char, 32768> buffer;
    while (true) {
        const int got = ssh_channel_read_nonblocking(channel_, buffer.data(), buffer.size(), 0);
        if (got == 0 && !ssh_channel_is_eof(channel_)) return true;
        if (got <= 0) return false;
        for (int done = 0; done < got;) {
            const ssize_t put =
                ::send(theirs_.get(), buffer.data() + done, static_cast<size_t>(got - done), MSG_NOSIGNAL);
            if (put <= 0) return false;
            done += static_cast<int>(put);
        }
    }
}

bool Jump::pass_out() {
    std::array<char, 32768> buffer;
    const ssize_t got = ::recv(theirs_.get(), buffer.data(), buffer.size(), 0);
    return got > 0 && ssh_channel_write(channel_, buffer.data(), static_cast<uint32_t>(got)) == got;
}

void Jump::pass_on() {
    while (pass_in()) {
        std::array<pollfd, 2> ready = {pollfd{ssh_get_fd(through_->get()), POLLIN, 0},
                                       pollfd{theirs_.get(), POLLIN, 0}};
        ::poll(ready.data(), ready.size(), kLook_ms);
        if (ready[1].revents != 0 && !pass_out()) break;
    }
    ::shutdown(theirs_.get(), SHUT_RDWR);
}

std::unique_ptr<Jump> jump_through(const SshSettings& to, const SshPerson& person, int depth,
                                   OwnedSocket& ours) {
    if (depth >= kMostJumps)
        throw NodeError({"endless-jumps", {std::to_string(kMostJumps)}}, to.target.text());
    SshSettings last = ssh_settings(to.jumps.back());
    if (to.jumps.size() > 1) last.jumps.assign(to.jumps.begin(), to.jumps.end() - 1);
    auto jump = std::make_unique<Jump>(open_session(last, person, depth + 1), to);
    ours = jump->take_socket();
    return jump;
}

}  // namespace ringmaster
