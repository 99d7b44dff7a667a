/// The person's ssh-agent, shown to libssh through our own socket: only the keys that are worth offering, the
/// likeliest first, because a server ends the connection after a few that it does not know (MaxAuthTries).
///
/// Protocol: draft-miller-ssh-agent; a message is a length of 32 bits (big-endian), a type byte and its
/// content.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "launcher/ssh/socket.h"

namespace ringmaster {

struct AgentKey {
    std::string blob;  ///< the public key, as on the wire
    std::string comment;
};

/// Of an answer to "which identities": empty where it is something else or damaged.
std::vector<AgentKey> parse_identities(const std::string& message);
std::string identities_message(const std::vector<AgentKey>& keys);

/// Those named by `wanted` (blobs) first, in that order; the others after them unless `only_wanted`.
std::vector<AgentKey> choose_keys(const std::vector<AgentKey>& all, const std::vector<std::string>& wanted,
                                  bool only_wanted);

class KeyAgent {
  public:
    /// `socket` is the path of the agent's. No agent there: no keys.
    KeyAgent(const std::string& socket, const std::vector<std::string>& wanted, bool only_wanted);
    KeyAgent(const KeyAgent&) = delete;
    KeyAgent& operator=(const KeyAgent&) = delete;
    ~KeyAgent();

    const std::vector<AgentKey>& keys() const { return keys_; }

    /// An agent that has this key alone: for libssh, which closes it. Once.
    int socket_for(const AgentKey& key);

  private:
    void serve(int theirs, const std::string& shown);

    OwnedSocket agent_;
    OwnedSocket ours_, theirs_;
    std::vector<AgentKey> keys_;
    std::thread thread_;
};

}  // namespace ringmaster
