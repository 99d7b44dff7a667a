/// The agents of a run on several nodes: node 0's listens, the others come to it, and each tells the other
/// that it is alive. One line a message, authenticated (channel.h): a word, and what belongs to it.
///
///     to node 0:  hello {agent and ranks} · beat · failing · asked stop|now · ended {how each rank ended}
///     from it:    beat · stop · now · end · over STATE REASON
///
/// Whoever has not proven that it belongs to the run gets five seconds, a line of 256 bytes, and one of 32
/// places, of which the newest comer takes the oldest. Node 0 stops listening once every node is there.
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
    std::string address;  ///< node 0: where it listens; else where node 0 does. IPv4 as numbers
    int port = 0;         ///< of node 0's agent, for the others
    std::string secret;   ///< of the run
};

struct FleetMessage {
    int node = 0;      ///< that it came from
    std::string word;  ///< or "gone": closed, "silent": nothing for kNodeSilence, "forged": a line that is
                       ///< not its own
    std::string rest;
};

class Fleet {
  public:
    /// Node 0 listens; another connects, and returns when both have proven that they belong to the run.
    /// Throws Error(Unreachable).
    explicit Fleet(const FleetPlace& place);

    int port() const { return port_; }
    bool listens() const { return listening_.get() >= 0; }

    void add_to(std::vector<pollfd>& waited) const;
    /// What came, each node that is lost told once. `arrived` names the nodes that have said hello.
    std::vector<FleetMessage> take();
    void beat();  ///< at most every two seconds; call it often
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
    bool is_here(int node) const;
    int sender(const Link& link) const;
    void lose(Link& link, const char* how, std::vector<FleetMessage>& messages) const;
    static void flush(Link& link);

    FleetPlace place_;
    Descriptor listening_;
    int port_ = 0;
    std::vector<Link> links_;
    Clock::time_point last_beat_, no_descriptors_until_;
};

/// The interface that an address of this machine belongs to; empty: none.
std::string interface_of(const std::string& address);
/// This machine's address towards another; empty: no route.
std::string address_towards(const std::string& address);

}  // namespace ringmaster
