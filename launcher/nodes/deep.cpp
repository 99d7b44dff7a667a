#include "launcher/nodes/deep.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/events/event_log.h"
#include "launcher/base/engine_files.h"
#include "launcher/nodes/from_node.h"
#include "launcher/nodes/remote_run.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr auto kSelfTestPatience = std::chrono::seconds(120);  ///< enough for LibTorch on a slow network disk
constexpr size_t kLongestName = 256;
constexpr auto kLinkPatience = std::chrono::seconds(180);

/// Runs a program on a node that prints lines of JSON, and keeps its output.
class TalkingProgram {
  public:
    TalkingProgram(Node& node, const StartCommand& command)
        : node_(node), script_(*node.session, script_of(command)) {}

    /// Returns `key` of the next line that has it; nullopt: the program ended. Throws Cancelled, NodeError.
    std::optional<Json> wait_for(const std::string& key, std::chrono::seconds patience,
                                 const Progress& progress) {
        const auto end = Clock::now() + patience;
        while (Clock::now() < end) {
            progress.stop_if_cancelled();
            if (const auto line = next_line()) {
                Json said = try_bounded_json(*line, {1 << 20, 16, 1 << 14});
                if (said.is_object() && said.contains(key)) return said.at(key);
            } else if (ended_) {
                return std::nullopt;
            } else {
                ended_ = !script_.read(pending_, kLook);
            }
        }
        throw NodeError({"command-hangs", {std::to_string(patience.count())}}, node_.name());
    }

    /// Returns what the program wrote to stderr, without the program's name in front.
    std::string error_output() const {
        std::string words = script_.errors();
        constexpr std::string_view kName = "ringmaster-engine: ";
        if (const size_t at = words.rfind(kName); at != std::string::npos)
            words = words.substr(at + kName.size());
        std::replace(words.begin(), words.end(), '\n', ' ');
        while (!words.empty() && words.back() == ' ') words.pop_back();
        return words.empty() ? "it said nothing" : words;
    }

  private:
    /// Passes variables through the script, because other users of the node could read them in a command
    /// line.
    static std::string script_of(const StartCommand& command) {
        std::string script;
        for (const auto& [name, value] : command.environment)
            script += "export " + name + "=" + shell_quoted(value) + "\n";
        return script + "exec " + shell_line({{}, command.arguments});
    }

    std::optional<std::string> next_line() {
        const size_t end = pending_.find('\n');
        if (end == std::string::npos) return std::nullopt;
        const std::string line = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        return line;
    }

    Node& node_;
    RemoteScript script_;
    std::string pending_;
    bool ended_ = false;
};

/// A machine under test and the facts known about it.
struct Tried {
    Node* node = nullptr;
    NodeReport* report = nullptr;
    std::string bin;
    bool cuda = false;
};

/// Finds the interface that leads to node 0. The agent prints, for example, "interface eth0 10.0.0.7".
void find_interface(Tried& one, const Node& first) {
    DeepReport& deep = *one.report->deep;
    const ScriptResult said =
        run_script(*one.node->session,
                   shell_line({{}, {one.bin + "/ringmaster-agent", "--towards", first.facts.address}}));
    std::istringstream words(said.out);
    std::string word;
    if (said.status != 0 || !(words >> word >> deep.interface >> deep.address))
        throw NodeError({"no-interface", {first.name(), first.facts.address}}, one.node->name());
    deep.interface = text_of_node(deep.interface, kLongestName);
    deep.address = text_of_node(deep.address, kLongestName);
    deep.towards = first.name();
}

void test_engine(Tried& one, const Progress& progress) {
    const size_t gpus = one.cuda ? one.node->facts.gpus.size() : 0;
    StartCommand command{{}, {one.bin + "/ringmaster-engine", "--trial"}};
    if (gpus > 0)
        command.arguments.insert(command.arguments.end(),
                                 {"--device", "cuda", "--devices", std::to_string(gpus)});
    TalkingProgram engine(*one.node, command);
    const auto begun = engine.wait_for("phase", kSelfTestPatience, progress);
    if (!begun)
        throw NodeError({"engine-fails", {engine.error_output(), one.node->facts.libtorch}},
                        one.node->name());
    const auto result = engine.wait_for("result", kSelfTestPatience, progress);
    if (!result) throw NodeError({"selftest-fails", {engine.error_output()}}, one.node->name());
    DeepReport& deep = *one.report->deep;
    deep.tried = unix_now();
    deep.libtorch = text_of_node(result->at("libtorch"), kLongestName);
    deep.passed = result->at("passed");
    deep.seconds = result->at("seconds");
}

/// Runs a part of the test; a failure becomes the machine's report. Throws only Cancelled.
void try_one(Tried& one, const std::function<void()>& part) {
    if (!one.report->deep) return;
    try {
        part();
        return;
    } catch (const NodeError& problem) {
        one.report->found(NodeVerdict::Unusable, problem.finding);
    } catch (const Error& problem) {
        one.report->found(NodeVerdict::Unusable, {});
        one.report->message = problem.what();
        one.report->next = problem.hint;
    } catch (const Json::exception& problem) {
        one.report->found(NodeVerdict::Unusable,
                          {"engine-fails", {problem.what(), one.node->facts.libtorch}});
    }
    one.report->deep.reset();
}

/// Reports the transfers, which run on all nodes at the same time, as one step.
Progress as_one(const Progress& progress) {
    Progress one = progress;
    if (!progress.step) return one;
    one.step = [step = progress.step](const ProgressStep& now) {
        step({"bring", {}, now.done, now.total, now.is_bytes});
    };
    return one;
}

void try_out(std::vector<Tried>& all, const Places& places, const Progress& progress) {
    const Progress bringing = as_one(progress);
    for_each_at_once(all.size(), [&](size_t i) {
        all[i].report->deep.emplace();
        try_one(all[i], [&] {
            all[i].bin = bring_programs(*all[i].node, places, bringing);
            find_interface(all[i], *all.front().node);
        });
    });
    progress.report({"self-test"});
    for_each_at_once(all.size(), [&](size_t i) { try_one(all[i], [&] { test_engine(all[i], progress); }); });
}

std::string random_token() {
    std::random_device source;
    std::string token;
    for (int i = 0; i < 32; ++i) token += "0123456789abcdef"[source() % 16];
    return token;
}

StartCommand link_command(const Tried& one, const std::string& token, bool cuda,
                          const std::vector<std::string>& where) {
    const std::string& interface = one.report->deep->interface;
    StartCommand command{{{"RINGMASTER_LINK_TOKEN", token},
                          {"GLOO_SOCKET_IFNAME", interface},
                          {"NCCL_SOCKET_IFNAME", interface}},
                         {one.bin + "/ringmaster-engine", "--link", "--device", cuda ? "cuda" : "cpu"}};
    command.arguments.insert(command.arguments.end(), where.begin(), where.end());
    return command;
}

/// Returns the link between two machines, as seen from the first.
NodeLink measure_pair(const Tried& first, const Tried& second, const Progress& progress) {
    NodeLink link{second.node->name()};
    const std::string token = random_token();
    const bool cuda = first.cuda && second.cuda;
    const std::string& address = first.report->deep->address;
    TalkingProgram listening(*first.node, link_command(first, token, cuda, {"--listen", address}));
    const auto meet = listening.wait_for("meet", kLinkPatience, progress);
    if (!meet) {
        link.problem = listening.error_output();
        return link;
    }
    const std::string port = std::to_string(meet->at("port").get<int>());
    TalkingProgram meeting(*second.node,
                           link_command(second, token, cuda, {"--meet", address, "--port", port}));
    const auto far = meeting.wait_for("result", kLinkPatience, progress);
    if (!far) {
        link.problem = meeting.error_output();
        return link;
    }
    const auto near = listening.wait_for("result", kLinkPatience, progress);
    if (!near) {
        link.problem = listening.error_output();
        return link;
    }
    link.bytes_per_s = std::min(near->at("bytes_per_s").get<double>(), far->at("bytes_per_s").get<double>());
    link.latency_s = std::max(near->at("latency_s").get<double>(), far->at("latency_s").get<double>());
    return link;
}

void note_link(const Tried& first, const Tried& second, const NodeLink& link) {
    NodeLink back = link;
    back.to = first.node->name();
    first.report->deep->links.push_back(link);
    second.report->deep->links.push_back(back);
    if (link.problem.empty()) return;
    const std::string from = first.report->deep->address, to = second.report->deep->address;
    second.report->found(NodeVerdict::Unusable, {"link-fails", {first.node->name(), link.problem, from, to}});
}

void measure_links(const std::vector<Tried>& all, const Progress& progress) {
    const auto rounds = rounds_of_pairs(all.size());
    const auto total = static_cast<int64_t>(all.size() * (all.size() - 1) / 2);
    int64_t done = 0;
    for (const auto& round : rounds) {
        progress.report({"links", {}, done, total});
        for_each_at_once(round.size(), [&](size_t i) {
            const auto& [a, b] = round[i];
            NodeLink link{all[b].node->name()};
            try {
                link = measure_pair(all[a], all[b], progress);
            } catch (const Error& problem) {
                link.problem = problem.what();
            } catch (const Json::exception& problem) {
                link.problem = problem.what();
            }
            note_link(all[a], all[b], link);
        });
        done += static_cast<int64_t>(round.size());
    }
}

/// Lets several threads report progress, one at a time.
Progress one_at_a_time(const Progress& progress) {
    Progress one = progress;
    if (!progress.step) return one;
    one.step = [turn = std::make_shared<std::mutex>(), step = progress.step](const ProgressStep& now) {
        const std::lock_guard lock(*turn);
        step(now);
    };
    return one;
}

}  // namespace

std::vector<std::vector<std::pair<size_t, size_t>>> rounds_of_pairs(size_t count) {
    std::vector<std::vector<std::pair<size_t, size_t>>> rounds;
    if (count < 2) return rounds;
    const size_t even = count + count % 2;  // the extra slot of an odd count is a bye
    for (size_t round = 0; round + 1 < even; ++round) {
        auto& pairs = rounds.emplace_back();
        for (size_t i = 0; i < even / 2; ++i) {
            const size_t a = i == 0 ? even - 1 : (round + i) % (even - 1);
            const size_t b = i == 0 ? round : (round + even - 1 - i) % (even - 1);
            if (std::max(a, b) < count) pairs.emplace_back(std::min(a, b), std::max(a, b));
        }
    }
    return rounds;
}

std::vector<NodeReport> try_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                  const ProgramNeeds& needs, const Remedy& remedy, const Places& places,
                                  const Progress& progress) {
    const Progress one = one_at_a_time(progress);
    std::vector<Node> nodes;
    std::vector<NodeReport> reports = check_nodes(targets, person, needs, remedy, &nodes);
    progress.stop_if_cancelled();
    const bool has_cuda = !cuda_file(places).empty();
    std::vector<Tried> all;
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (reports[i].can_train())
            all.push_back({&nodes[i], &reports[i], "", has_cuda && !nodes[i].facts.gpus.empty()});
    }
    if (all.empty()) return reports;
    try_out(all, places, one);
    std::erase_if(all, [](const Tried& tried) { return !tried.report->deep; });
    measure_links(all, one);
    return reports;
}

}  // namespace ringmaster
