#include "launcher/ssh/key_agent.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ringmaster {

namespace {

constexpr char kFailure = 5;
constexpr char kRequestIdentities = 11;
constexpr char kIdentitiesAnswer = 12;
constexpr size_t kLongestMessage = 1 << 20;

std::string number(size_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xff);
    return bytes;
}

size_t number_at(const std::string& bytes, size_t at) {
    size_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

bool read_whole(int fd, char* to, size_t count) {
    while (count > 0) {
        const ssize_t got = ::read(fd, to, count);
        if (got <= 0) return false;
        to += got;
        count -= static_cast<size_t>(got);
    }
    return true;
}

/// Returns an empty message if the other side has closed the connection.
std::string read_message(int fd) {
    std::string length(4, '\0');
    if (!read_whole(fd, length.data(), 4)) return {};
    const size_t size = number_at(length, 0);
    if (size == 0 || size > kLongestMessage) return {};
    std::string message(size, '\0');
    return read_whole(fd, message.data(), size) ? message : std::string();
}

bool write_message(int fd, const std::string& message) {
    const std::string bytes = number(message.size()) + message;
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t put = ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (put <= 0) return false;
        done += static_cast<size_t>(put);
    }
    return true;
}

OwnedSocket open_agent(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) return OwnedSocket();
    std::memcpy(address.sun_path, path.c_str(), path.size());
    OwnedSocket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{5, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return OwnedSocket();
    return socket;
}

}  // namespace

std::vector<AgentKey> parse_identities(const std::string& message) {
    std::vector<AgentKey> keys;
    if (message.size() < 5 || message[0] != kIdentitiesAnswer) return keys;
    const size_t count = number_at(message, 1);
    size_t at = 5;
    const auto take = [&](std::string& text) {
        if (message.size() - at < 4) return false;
        const size_t size = number_at(message, at);
        if (size > message.size() - at - 4) return false;
        text = message.substr(at + 4, size);
        at += 4 + size;
        return true;
    };
    for (size_t i = 0; i < count; ++i) {
        AgentKey key;
        if (!take(key.blob) || !take(key.comment)) return {};
        keys.push_back(std::move(key));
    }
    return keys;
}

std::string identities_message(const std::vector<AgentKey>& keys) {
    std::string message = kIdentitiesAnswer + number(keys.size());
    for (const AgentKey& key : keys)
        message += number(key.blob.size()) + key.blob + number(key.comment.size()) + key.comment;
    return message;
}

std::vector<AgentKey> choose_keys(const std::vector<AgentKey>& all, const std::vector<std::string>& wanted,
                                  bool only_wanted) {
    std::vector<AgentKey> chosen;
    for (const std::string& blob : wanted) {
        for (const AgentKey& key : all) {
            if (key.blob == blob) chosen.push_back(key);
        }
    }
    if (only_wanted) return chosen;
    for (const AgentKey& key : all) {
        if (std::find(wanted.begin(), wanted.end(), key.blob) == wanted.end()) chosen.push_back(key);
    }
    return chosen;
}

KeyAgent::KeyAgent(const std::string& socket, const std::vector<std::string>& wanted, bool only_wanted)
    : agent_(open_agent(socket)) {
    if (agent_.get() < 0 || !write_message(agent_.get(), std::string(1, kRequestIdentities))) return;
    keys_ = choose_keys(parse_identities(read_message(agent_.get())), wanted, only_wanted);
}

int KeyAgent::socket_for(const AgentKey& key) {
    const timeval for_ever{0, 0};  // the user may have to confirm the use of a key
    ::setsockopt(agent_.get(), SOL_SOCKET, SO_RCVTIMEO, &for_ever, sizeof for_ever);
    std::tie(ours_, theirs_) = socket_pair();
    thread_ = std::thread([this, shown = identities_message({key})] { serve(theirs_.get(), shown); });
    return ours_.release();
}

KeyAgent::~KeyAgent() {
    if (!thread_.joinable()) return;
    ::shutdown(theirs_.get(), SHUT_RDWR);
    ::shutdown(agent_.get(), SHUT_RDWR);
    thread_.join();
}

void KeyAgent::serve(int theirs, const std::string& shown) {
    while (true) {
        const std::string asked = read_message(theirs);
        if (asked.empty()) return;
        std::string answer;
        if (asked[0] == kRequestIdentities) {
            answer = shown;
        } else if (write_message(agent_.get(), asked)) {
            answer = read_message(agent_.get());
        }
        if (!write_message(theirs, answer.empty() ? std::string(1, kFailure) : answer)) return;
    }
}

}  // namespace ringmaster
