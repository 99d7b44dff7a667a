/// Passes keys of the user's ssh-agent to libssh through a separate socket. Passes only keys worth offering,
/// the likeliest first, because a server ends the connection after a few unknown keys (MaxAuthTries).
///
/// The protocol is draft-miller-ssh-agent: a message is a 32-bit big-endian length, a type byte and its
/// content.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "launcher/ssh/socket.h"

namespace ringmaster {

struct AgentKey {
    std::string blob;  ///< public key in wire format
    std::string comment;
};

/// Parses an answer with identities; returns none if the message is damaged or not such an answer.
std::vector<AgentKey> parse_identities(const std::string& message);
std::string identities_message(const std::vector<AgentKey>& keys);

/// Returns the keys with blobs in `wanted`, in that order, then the others unless `only_wanted` is set.
std::vector<AgentKey> choose_keys(const std::vector<AgentKey>& all, const std::vector<std::string>& wanted,
                                  bool only_wanted);

class KeyAgent {
  public:
    /// Connects to the agent at the path `socket`. Without an agent there are no keys.
    KeyAgent(const std::string& socket, const std::vector<std::string>& wanted, bool only_wanted);
    KeyAgent(const KeyAgent&) = delete;
    KeyAgent& operator=(const KeyAgent&) = delete;
    ~KeyAgent();

    const std::vector<AgentKey>& keys() const { return keys_; }

    /// Returns a socket to an agent with only this key, for libssh, which closes it. Call it once.
    int socket_for(const AgentKey& key);

  private:
    void serve(int theirs, const std::string& shown);

    OwnedSocket agent_;
    OwnedSocket ours_, theirs_;
    std::vector<AgentKey> keys_;
    std::thread thread_;
};

}  // namespace ringmaster
