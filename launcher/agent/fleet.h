/// The agents of a run on several nodes: node 0's listens, the others come to it, and each tells the other
/// that it is alive. One line a message: a word, and what belongs to it. A connection counts only once it has
/// shown the run's token.
///
///     to node 0:  hello TOKEN NODE {agent and ranks} · beat · failing · asked stop|now · ended {how each
///     rank ended} from it:    beat · stop · now · end · over STATE REASON
#pragma once

#include <poll.h>

#include <chrono>
#include <string>
#include <vector>

#include "engine/events/run_state.h"
#include "launcher/agent/descriptor.h"
#include "launcher/agent/verdict.h"

namespace ringmaster {

constexpr auto kNodeSilence = std::chrono::seconds(20);

struct FleetPlace {
    int node = 0;
    int nodes = 1;
    std::string address;  ///< node 0: where it listens; else where node 0 does. IPv4 as numbers
    int port = 0;         ///< of node 0's agent, for the others
    std::string token;
};

struct FleetMessage {
    int node = 0;      ///< that it came from
    std::string word;  ///< or "gone": closed, "silent": nothing for kNodeSilence
    std::string rest;
};

class Fleet {
  public:
    /// Node 0 listens; another connects and says hello. Throws Error(Unreachable).
    explicit Fleet(const FleetPlace& place);

    int port() const { return port_; }
    void say_hello(const NodeState& self);  ///< of another node than 0

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
        int node = -1;  ///< not known before its hello
        std::string in, out;
        Clock::time_point heard, since;
        bool lost = false;
    };
    void accept_links();
    void read_from(Link& link, std::vector<FleetMessage>& messages);
    void take_line(Link& link, const std::string& line, std::vector<FleetMessage>& messages);
    static void flush(Link& link);

    FleetPlace place_;
    Descriptor listening_;
    int port_ = 0;
    std::vector<Link> links_;
    Clock::time_point last_beat_;
};

std::string rank_ends_to_line(const std::vector<RankEnd>& ends);
/// Empty where it is damaged.
std::vector<RankEnd> rank_ends_from_line(const std::string& line);
std::string node_to_line(const NodeState& node);
/// Without agent and ranks where it is damaged.
NodeState node_from_line(const std::string& line);

/// The interface that an address of this machine belongs to; empty: none.
std::string interface_of(const std::string& address);
/// This machine's address towards another; empty: no route.
std::string address_towards(const std::string& address);

}  // namespace ringmaster
