/// One end of a connection between two agents of a run, without its socket. Both prove that they hold the
/// run's secret, and it never crosses the wire; from then on every line carries a MAC over its number in this
/// connection, so that nothing can be put in, left out, changed or sent again. What the lines say is not
/// hidden.
///
///     another node to node 0:  agent 2 NODE NONCE      node 0's answer:  challenge NONCE
///                              proof MAC                                 proof MAC
///     then, both ways:         MAC TEXT
///
/// Keys and proofs are HMAC-SHA-256 of the secret over both nonces, the node and the direction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringmaster {

class Channel {
  public:
    static constexpr size_t kLongestGreeting = 256;  ///< bytes of a line before the proofs

    /// Node 0's end, for nodes 1 to nodes - 1.
    static Channel of_first(const std::string& secret, int nodes);
    /// The end of `node`, which begins with opening().
    static Channel of_other(const std::string& secret, int node);

    std::string opening() const;
    bool is_proven() const { return proven_; }
    int node() const { return node_; }  ///< the one that is not node 0; of node 0's end once it is proven

    /// A line that came before both are proven: what to answer, which may be empty. Nothing: the other does
    /// not belong to the run, and the connection is to be closed.
    std::optional<std::string> greet(std::string_view line);

    /// Once both are proven.
    std::string sealed_line(std::string_view text);
    /// Nothing: the line is not the next one of the other end.
    std::optional<std::string> opened_line(std::string_view line);

  private:
    Channel(const std::string& secret, bool first, int nodes, int node);
    std::string proof(bool of_first) const;
    std::string line_mac(bool from_first, uint64_t number, std::string_view text) const;
    std::optional<std::string> take_opening(std::string_view line);

    std::string secret_;  ///< of agents alone
    bool first_;
    int nodes_, node_;
    std::string nonce_first_, nonce_other_;
    std::string from_first_, from_other_;  ///< keys of the lines
    bool proven_ = false;
    uint64_t sent_ = 0, received_ = 0;
};

}  // namespace ringmaster
