/// Connects the agents of a run on several nodes: node 0's agent listens, and the others connect. Both ends
/// tell each other that they are alive. A message is one authenticated line (channel.h): a word and its data.
///
///     to node 0:  hello {agent and ranks} · beat · stop · now · end · ended {how each rank ended}
///     from it:    beat · stop · now · end · over STATE REASON
///
/// A connection that has not yet proven that it belongs to the run is closed after five seconds. Until then
/// it may send lines of up to 256 bytes. There are at most 32 such connections; a new one closes the oldest.
/// Node 0 stops listening once every node has connected.
#pragma once

#include <poll.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/agent/channel.h"
#include "launcher/agent/descriptor.h"

namespace ringmaster {

constexpr auto kNodeSilence = std::chrono::seconds(20);

struct FleetPlace {
    int node = 0;
    int nodes = 1;
    std::string address;  ///< address where node 0 listens; numeric IPv4
    int port = 0;         ///< port on which node 0's agent listens for the others
    std::string secret;   ///< secret of the run
};

struct FleetMessage {
    int node = 0;      ///< node that sent the message
    std::string word;  ///< word that the peer sent; or "gone" (connection closed), "silent" (nothing came for
                       ///< kNodeSilence), "forged" (a line that the peer did not send)
    std::string rest;
};

class Fleet {
  public:
    /// Listens on node 0; connects on other nodes, and returns when both ends have proven that they belong to
    /// the run. Throws Error(Unreachable).
    explicit Fleet(const FleetPlace& place);

    int port() const { return port_; }
    bool listens() const { return listening_.get() >= 0; }

    void add_to(std::vector<pollfd>& waited) const;
    /// Accepts connections, reads from all links, and returns the messages that have arrived. Reports a lost
    /// node once.
    std::vector<FleetMessage> take();
    void beat();  ///< sends a beat if the last one was sent two seconds ago or earlier; call it often
    void send(int node, const std::string& line);
    void send_all(const std::string& line);

  private:
    using Clock = std::chrono::steady_clock;
    struct Link {
        Descriptor socket;
        Channel channel;
        std::string in, out;
        Clock::time_point heard, since;
        bool lost = false;
    };
    void listen();
    void meet_first();
    Descriptor connected() const;
    void add_link(Descriptor socket, Channel channel);
    void accept_links();
    void drop_oldest_stranger();
    void stop_listening_if_complete();
    void read_from(Link& link, std::vector<FleetMessage>& messages);
    void take_lines(Link& link, std::vector<FleetMessage>& messages);
    bool take_line(Link& link, std::string_view line, std::vector<FleetMessage>& messages);
    bool is_connected(int node) const;
    int sender(const Link& link) const;
    void lose(Link& link, const char* how, std::vector<FleetMessage>& messages) const;
    static void flush(Link& link);

    FleetPlace place_;
    Descriptor listening_;
    int port_ = 0;
    std::vector<Link> links_;
    Clock::time_point last_beat_, no_descriptors_until_;
};

/// Returns the name of this machine's interface that has this address; empty if none has it.
std::string interface_of(const std::string& address);
/// Returns this machine's address on the route to `address`; an empty string if there is no route.
std::string address_towards(const std::string& address);

}  // namespace ringmaster
