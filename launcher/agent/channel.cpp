#include "launcher/agent/channel.h"

#include <charconv>

#include "engine/auth/sha256.h"

namespace ringmaster {

namespace {

constexpr size_t kNonceBytes = 16;
constexpr size_t kMacDigits = 2 * sizeof(Digest);

std::string new_nonce() {
    return to_hex(random_bytes(kNonceBytes));
}

bool is_nonce(std::string_view text) {
    return text.size() == 2 * kNonceBytes &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns the text after the word and a space; nullopt if the line begins with another word.
std::optional<std::string_view> after(std::string_view word, std::string_view line) {
    if (!line.starts_with(word) || line.size() <= word.size() || line[word.size()] != ' ')
        return std::nullopt;
    return line.substr(word.size() + 1);
}

}  // namespace

Channel::Channel(const std::string& secret, bool first, int nodes, int node)
    : secret_(bytes_of(mac(secret, {"agents"}))), first_(first), nodes_(nodes), node_(node) {
    (first ? nonce_first_ : nonce_other_) = new_nonce();
}

Channel Channel::of_first(const std::string& secret, int nodes) {
    return Channel(secret, true, nodes, 0);
}

Channel Channel::of_other(const std::string& secret, int node) {
    return Channel(secret, false, 0, node);
}

std::string Channel::opening() const {
    return "agent 2 " + std::to_string(node_) + " " + nonce_other_;
}

std::string Channel::proof(bool of_first) const {
    return to_hex(bytes_of(mac(
        secret_, {of_first ? "node 0" : "another node", std::to_string(node_), nonce_first_, nonce_other_})));
}

std::optional<std::string> Channel::take_opening(std::string_view line) {
    const auto rest = after("agent 2", line);
    if (!rest) return std::nullopt;
    const size_t blank = rest->find(' ');
    if (blank == std::string_view::npos || !is_nonce(rest->substr(blank + 1))) return std::nullopt;
    int node = 0;
    const auto [end, problem] = std::from_chars(rest->data(), rest->data() + blank, node);
    if (problem != std::errc() || end != rest->data() + blank || node < 1 || node >= nodes_)
        return std::nullopt;
    node_ = node;
    nonce_other_ = rest->substr(blank + 1);
    return "challenge " + nonce_first_;
}

std::optional<std::string> Channel::greet(std::string_view line) {
    if (first_ && nonce_other_.empty()) return take_opening(line);
    if (!first_ && nonce_first_.empty()) {
        const auto nonce = after("challenge", line);
        if (!nonce || !is_nonce(*nonce)) return std::nullopt;
        nonce_first_ = *nonce;
        return "proof " + proof(false);
    }
    const auto shown = after("proof", line);
    if (!shown || !is_same(*shown, proof(!first_))) return std::nullopt;
    const auto key = [&](const char* direction) {
        return std::string(
            bytes_of(mac(secret_, {direction, std::to_string(node_), nonce_first_, nonce_other_})));
    };
    from_first_ = key("lines of node 0");
    from_other_ = key("lines of another node");
    proven_ = true;
    return first_ ? "proof " + proof(true) : "";
}

std::string Channel::line_mac(bool from_first, uint64_t number, std::string_view text) const {
    return to_hex(bytes_of(mac(from_first ? from_first_ : from_other_, {std::to_string(number), text})));
}

std::string Channel::sealed_line(std::string_view text) {
    return line_mac(first_, sent_++, text) + " " + std::string(text);
}

std::optional<std::string> Channel::opened_line(std::string_view line) {
    if (line.size() <= kMacDigits || line[kMacDigits] != ' ') return std::nullopt;
    const std::string_view text = line.substr(kMacDigits + 1);
    if (!is_same(line.substr(0, kMacDigits), line_mac(!first_, received_, text))) return std::nullopt;
    ++received_;
    return std::string(text);
}

}  // namespace ringmaster
