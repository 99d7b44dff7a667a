/// Implements one end of a connection between two agents of a run, without its socket. Both ends prove that
/// they hold the run's secret, which never crosses the wire. Every later line carries a MAC over its text and
/// its number in this connection, so that nobody can insert, drop, change or replay lines. The text of the
/// lines is not encrypted.
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
    /// Maximum bytes of a line before both ends have authenticated
    static constexpr size_t kLongestGreeting = 256;

    /// Returns node 0's end of a connection with any of the nodes 1 to nodes - 1.
    static Channel of_first(const std::string& secret, int nodes);
    /// Returns the end of a connection on `node`, which sends opening() first.
    static Channel of_other(const std::string& secret, int node);

    std::string opening() const;
    bool is_proven() const { return proven_; }
    /// Number of the node other than 0; node 0's end learns it from the greeting
    int node() const { return node_; }

    /// Handles a line that came before both ends have authenticated. Returns the answer, which may be empty,
    /// or nothing if the peer does not belong to the run and the connection must be closed.
    std::optional<std::string> greet(std::string_view line);

    /// Returns a line with its MAC. Both ends must have authenticated.
    std::string sealed_line(std::string_view text);
    /// Returns the text of a line; nullopt if it is not the next line that the other end sent.
    std::optional<std::string> opened_line(std::string_view line);

  private:
    Channel(const std::string& secret, bool first, int nodes, int node);
    std::string proof(bool of_first) const;
    std::string line_mac(bool from_first, uint64_t number, std::string_view text) const;
    std::optional<std::string> take_opening(std::string_view line);

    std::string secret_;  ///< HMAC key of the agents, derived from the run's secret
    bool first_;
    int nodes_, node_;
    std::string nonce_first_, nonce_other_;
    std::string from_first_, from_other_;  ///< MAC keys for the lines in each direction
    bool proven_ = false;
    uint64_t sent_ = 0, received_ = 0;
};

}  // namespace ringmaster
