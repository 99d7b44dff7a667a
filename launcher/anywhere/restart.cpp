#include "launcher/anywhere/restart.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "engine/error.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/backends/needs.h"
#include "launcher/nodes/fleet.h"

namespace ringmaster {

using namespace std::chrono_literals;

namespace {

constexpr auto kAgain = 5s;
constexpr auto kGlance = 100ms;
constexpr auto kNodePatience = 30s;  ///< enough for a node that reboots or loses its link

using Settings = std::vector<std::pair<std::string, std::string>>;

void wait(std::chrono::milliseconds time, const Progress& progress) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
        progress.stop_if_cancelled();
        std::this_thread::sleep_for(kGlance);
    }
}

/// Checks each node that has no session yet. `nodes` and `reports` are in the order of the run's list.
void ask_missing(const RemoteRun& remote, std::vector<Node>& nodes, std::vector<NodeReport>& reports,
                 const Places& places, const SshPerson& person) {
    const ProgramNeeds needs = program_needs(places);
    const SshPerson one = one_at_a_time(person);
    for_each_at_once(nodes.size(), [&](size_t i) {
        if (nodes[i].session) return;
        reports[i] = check_node(parse_target(remote.nodes[i].target), one, needs, &nodes[i]);
        if (reports[i].state != NodeVerdict::Ready && reports[i].state != NodeVerdict::Warning)
            nodes[i].session.reset();
    });
}

/// Returns why each node without a session is lost. Removes a node's suggested next step, because the caller
/// suggests one for the run.
std::vector<NodeReport> missing(const std::vector<Node>& nodes, const std::vector<NodeReport>& reports) {
    std::vector<NodeReport> lost;
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].session) continue;
        lost.push_back(reports[i]);
        lost.back().next.clear();
    }
    return lost;
}

int divisor_up_to(int number, int most) {
    int found = 1;
    for (int d = 1; d <= std::min(number, most); ++d) {
        if (number % d == 0) found = d;
    }
    return found;
}

Settings settings_for(const Plan& before, int ranks, int context_parallel, int64_t accumulation) {
    const Config& config = before.config;
    Settings set;
    const int data_parallel = ranks / context_parallel;
    if (context_parallel != before.context_parallel.size)
        set.emplace_back("context_parallel_size", std::to_string(context_parallel));
    if (config.ulysses_size > 0 && context_parallel % config.ulysses_size != 0) {
        const auto ulysses = static_cast<int>(config.ulysses_size);
        set.emplace_back("ulysses_size", std::to_string(std::gcd(ulysses, context_parallel)));
    }
    const int shards = divisor_up_to(data_parallel, before.mesh.dp_shard);
    if (config.dp_shard_size > 0 && shards != before.mesh.dp_shard)
        set.emplace_back("dp_shard_size", std::to_string(shards));
    if (config.dp_replicate_size > 0 && data_parallel / shards != before.mesh.dp_replicate)
        set.emplace_back("dp_replicate_size", std::to_string(data_parallel / shards));
    if (before.mesh.expert > 1 && shards * context_parallel % before.mesh.expert != 0)
        set.emplace_back("expert_parallel_size",
                         std::to_string(std::gcd(before.mesh.expert, shards * context_parallel)));
    if (accumulation != before.batch.accumulation)
        set.emplace_back("gradient_accumulation_steps", std::to_string(accumulation));
    return set;
}

/// Prepares a resume on the nodes that are left: all nodes, or those of the smaller run.
PreparedResume prepare_on(Continuation way, const RunDirectory& run, const Places& places,
                          const Progress& progress) {
    way.left.at->continue_at(way.shrunk ? way.shrunk->remote : read_remote_run(run));
    const ResumeOptions options = way.shrunk ? way.shrunk->options : ResumeOptions();
    ResumedRun resumed = way.left.at->prepare(run, options, places, progress);
    return {std::move(way.left.at), std::move(resumed)};
}

std::string changed(const std::string& what, int64_t before, int64_t after) {
    return what + " " + std::to_string(after) +
           (before == after ? ", as before" : " instead of " + std::to_string(before));
}

}  // namespace

RestartLimits restart_limits_of(const RunDirectory& run) {
    std::error_code none;
    if (!std::filesystem::exists(run.options(), none) ||
        backend_for(destination_of(run))->restarter() != Restarter::Follower)
        return {};
    const Request asked = request_of(run);
    return {asked.restarts, asked.shrink};
}

NodesLeft nodes_left(const RunDirectory& run, std::chrono::seconds patience, const Places& places,
                     const SshPerson& person, const Progress& progress) {
    const RemoteRun remote = read_remote_run(run);
    for (size_t i = 0; i < remote.nodes.size(); ++i) remote.require_named(i, "resume", run.name());
    std::vector<Node> nodes(remote.nodes.size());
    std::vector<NodeReport> reports(nodes.size());
    NodesLeft left;
    const auto end = std::chrono::steady_clock::now() + patience;
    while (true) {
        ask_missing(remote, nodes, reports, places, person);
        left.lost = missing(nodes, reports);
        if (left.lost.empty() || std::chrono::steady_clock::now() + kAgain > end) break;
        progress.report({"wait", {left.lost.front().host}});
        wait(kAgain, progress);
    }
    if (!nodes[0].session)
        throw Error(Failure::Unreachable, Code("NODE-UNREACHABLE"),
                    "node 0, which holds the checkpoints, is not there: " + reports[0].message,
                    reports[0].host, "`ringmaster resume " + run.name() + "` once it is there again");
    const std::optional<RunState> state = remote_state(*nodes[0].session, remote);
    if (state && !is_over(state->state))
        throw Error(Failure::Refused, Code("RUN-ACTIVE"), "is " + std::string(to_string(state->state)),
                    run.name(), "`ringmaster watch " + run.name() + "` shows it");
    std::vector<std::string> names;
    std::vector<Node> kept;
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i].session) continue;
        end_leftovers(nodes[i], remote.nodes[i], i);
        names.push_back(remote.nodes[i].target);
        left.places.push_back(i);
        kept.push_back(std::move(nodes[i]));
    }
    left.at = backend_on(std::move(names), std::move(kept));
    return left;
}

std::vector<Settings> shrink_settings(const Plan& before, int ranks) {
    std::vector<Settings> same_batch, other_batch;
    for (int context_parallel = std::min(before.context_parallel.size, ranks); context_parallel > 0;
         --context_parallel) {
        if (ranks % context_parallel != 0) continue;
        const int64_t rows = before.batch.micro * (ranks / context_parallel);
        const bool same = before.batch.global % rows == 0;
        const int64_t accumulation = same ? before.batch.global / rows : before.batch.accumulation;
        (same ? same_batch : other_batch)
            .push_back(settings_for(before, ranks, context_parallel, accumulation));
    }
    same_batch.insert(same_batch.end(), other_batch.begin(), other_batch.end());
    return same_batch;
}

Shrunk shrink(const RunDirectory& run, const NodesLeft& left, const Places& places) {
    const RemoteRun all = read_remote_run(run);
    if (all.adopted)
        throw Error(Failure::Refused, Code("RUN-ELSEWHERE"),
                    "was launched from another machine: it can be planned again only there", run.name());
    Shrunk shrunk;
    shrunk.before = read_plan(run.plan().string());
    shrunk.options.nodes = static_cast<int>(left.places.size());
    for (const size_t place : left.places) {
        RemoteNode node = all.nodes[place];
        node.first_rank = shrunk.remote.ranks;
        shrunk.remote.ranks += node.ranks;
        shrunk.remote.nodes.push_back(std::move(node));
    }
    shrunk.options.ranks = shrunk.remote.ranks;
    std::string first_error;
    for (const Settings& set : shrink_settings(shrunk.before, shrunk.remote.ranks)) {
        shrunk.options.set = set;
        shrunk.after = propose_resume(run, shrunk.options, left.at->machine(), places).plan;
        if (shrunk.after.ok() && shrunk.after.verdict != Verdict::WillNotFit) return shrunk;
        for (const Diagnostic& problem : shrunk.after.diagnostics) {
            const bool decides = problem.severity == Severity::Error || problem.code == "MEM-FIT";
            if (decides && first_error.empty()) first_error = problem.message;
        }
    }
    throw Error(Failure::Refused, Code("PLAN-REFUSED"),
                "cannot go on with " + std::to_string(shrunk.remote.ranks) + " ranks: " + first_error,
                run.name(), "`ringmaster resume " + run.name() + "` once all nodes are there again");
}

std::string shrink_text(const Shrunk& shrunk) {
    const Plan &before = shrunk.before, &after = shrunk.after;
    std::string text =
        "  " + changed("nodes", before.nodes, after.nodes) + "; " +
        changed("ranks", before.ranks, after.ranks) + "\n  " +
        changed("ranks for each sequence", before.context_parallel.size, after.context_parallel.size) + "; " +
        changed("data-parallel groups", before.mesh.data_parallel_size(), after.mesh.data_parallel_size()) +
        "\n  " + changed("rows a step", before.batch.global, after.batch.global) + "; " +
        changed("gradient accumulation", before.batch.accumulation, after.batch.accumulation) + "\n";
    return text + (before.batch.global == after.batch.global
                       ? "  the losses stay the same as before\n"
                       : "  the losses are no longer the same as before\n");
}

Continuation find_continuation(const RunDirectory& run, std::chrono::seconds patience,
                               const AgreeToShrink& agree, const Places& places, const SshPerson& person,
                               const Progress& progress) {
    Continuation way;
    way.left = nodes_left(run, patience, places, person, progress);
    if (way.left.lost.empty()) return way;
    way.shrunk = shrink(run, way.left, places);
    if (!agree || !agree(way.left, *way.shrunk))
        throw NodesError(way.left.lost, "`ringmaster resume " + run.name() +
                                            "` once all are there again; --shrink goes on with what is left");
    way.left.at =
        reach(way.left.at->destination(), places, person, progress);  // old sessions may have ended by now
    return way;
}

PreparedResume prepare_restart(const RunDirectory& run, const ResumeOptions& options,
                               const SlurmOptions& slurm, const AgreeToShrink& agree, const Places& places,
                               const SshPerson& person, const Progress& progress) {
    auto at = backend_for(destination_of(run));
    const bool may_leave_out = agree && at->can_shrink() && !options.checkpoint && options.set.empty();
    at->continue_run(run, options, slurm);
    try {
        at->reach(places, person, progress);
        ResumedRun resumed = at->prepare(run, options, places, progress);
        return {std::move(at), std::move(resumed)};
    } catch (const Error& problem) {
        if (problem.failure != Failure::Unreachable || !may_leave_out) throw;
    }
    return prepare_on(find_continuation(run, {}, agree, places, person, progress), run, places, progress);
}

PreparedResume restart_run(const RunDirectory& run, const AgreeToShrink& agree, const Places& places,
                           const SshPerson& person, const Progress& progress) {
    PreparedResume resume = prepare_on(find_continuation(run, kNodePatience, agree, places, person, progress),
                                       run, places, progress);
    resume.at->place(run, resume.resumed.plan, places, progress);
    resume.at->start_resumed(run, resume.resumed, places);
    return resume;
}

}  // namespace ringmaster
