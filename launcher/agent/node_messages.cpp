#include "launcher/agent/node_messages.h"

#include <algorithm>

#include "launcher/agent/agent_lines.h"

namespace ringmaster {

namespace {

struct Writer {
    std::string operator()(const NodeHere& here) const { return "hello " + node_to_line(here.node); }
    std::string operator()(const RanksEnded& ended) const { return "ended " + rank_ends_to_line(ended.ends); }
    std::string operator()(const RunOver& over) const {
        const std::string why = english(over.verdict.why);
        return "over " + std::string(to_string(over.verdict.state)) + " " + why.substr(0, why.find('\n'));
    }
    std::string operator()(const StopWanted& wanted) const { return wanted.now ? "now" : "stop"; }
    std::string operator()(const RankFailed&) const { return "end"; }
    std::string operator()(const PeerLost&) const { return ""; }
};

RunOver read_over(const std::string& text) {
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string word = text.substr(0, blank);
    const RunPhase phase = word == "completed" ? RunPhase::Completed
                           : word == "stopped" ? RunPhase::Stopped
                                               : RunPhase::Failed;
    return {{phase, {{"text", {text.substr(std::min(blank + 1, text.size()))}}}}};
}

}  // namespace

std::string line_of(const NodeMessage& message) {
    return std::visit(Writer(), message);
}

std::optional<NodeMessage> read_node_message(const FleetMessage& message) {
    if (message.word == "hello") {
        auto node = node_from_line(message.rest);
        if (!node) return PeerLost{"node-garbled-start"};
        return NodeHere{std::move(*node)};
    }
    if (message.word == "ended") {
        auto ends = rank_ends_from_line(message.rest);
        if (!ends) return PeerLost{"node-garbled-end"};
        return RanksEnded{std::move(*ends)};
    }
    if (message.word == "over") return read_over(message.rest);
    if (message.word == "stop") return StopWanted{};
    if (message.word == "now") return StopWanted{true};
    if (message.word == "end") return RankFailed{};
    if (message.word == "gone") return PeerLost{"node-gone"};
    if (message.word == "silent") return PeerLost{"node-silent", {std::to_string(kNodeSilence.count())}};
    if (message.word == "forged") return PeerLost{"node-forged"};
    return std::nullopt;
}

}  // namespace ringmaster
