#include "launcher/queue/queue_add.h"

#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/anywhere/restart.h"
#include "launcher/queue/queue_file.h"
#include "launcher/queue/queue_runner.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

/// Holds a run to be prepared, and the sweep's keys in which it differs from the other runs.
struct Wanted {
    Request request;
    RunOptions options;
    SweptKeys keys;
};

/// Gives each run of a sweep its own output folder, named like the run.
void part_outputs(Wanted& wanted, const std::string& output_dir) {
    if (wanted.keys.contains("output_dir") || output_dir.empty()) return;
    wanted.request.set.emplace_back(
        "output_dir", nlohmann::json((fs::path(output_dir) / wanted.options.name).string()).dump());
}

std::vector<Wanted> wanted_runs(const QueueRequest& asked) {
    const std::vector<SweptKeys> sweep = runs_of_sweep(asked.sweep);
    const std::string output_dir = read_request(asked.request).config.output_dir;
    const std::string name =
        asked.options.name.empty() ? suggest_run_name(asked.request.config) : asked.options.name;
    const size_t digits = std::to_string(sweep.size()).size();
    std::vector<Wanted> all;
    for (const SweptKeys& keys : sweep) {
        Wanted& one = all.emplace_back(Wanted{asked.request, asked.options, keys});
        one.options.name = name;
        add_settings(one.request, {keys.begin(), keys.end()});
        if (sweep.size() > 1) {
            const std::string number = std::to_string(all.size());
            one.options.name += "-" + std::string(digits - number.size(), '0') + number;
            part_outputs(one, output_dir);
        }
        check_run_name(one.options.name);
    }
    return all;
}

/// Throws Error(Refused) if a run of the queue that is not over writes into the folder.
void refuse_taken_output(const Queue& queue, const std::string& output_dir) {
    for (const QueuedRun& one : queue.runs) {
        if (queue_state(one.run) == QueueState::Over) continue;
        if (read_plan(one.run.plan().string()).config.output_dir != output_dir) continue;
        throw Error(Failure::Refused, Code("ARGUMENT-CONFLICT"),
                    "is where " + one.run.name() + " of the queue will write its model", output_dir,
                    "give this run another: --set output_dir=FOLDER");
    }
}

/// Throws Error(Usage) if the request asks for restarts that the queue cannot perform (can_restart_queued).
void refuse_restarts_by_follower(const QueueRequest& wanted) {
    if (!can_restart_queued(wanted.to) && wanted.request.restarts > 0)
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "is for a run on one machine: the queue itself continues a run over several nodes whose "
                    "processes vanish",
                    "--restarts");
}

Proposal startable(const Wanted& wanted, const RunBackend& at, const Places& places) {
    Proposal proposal = at.propose(wanted.request, places);
    at.require_startable(proposal.plan, places);
    check_output_dir(proposal.reading.config.output_dir, wanted.options.overwrite);
    return proposal;
}

/// Sets how many runs may use the place at the same time. Throws Error(Usage) for a place with hosts, because
/// a run has its hosts to itself.
void set_slots(Queue& queue, const QueuePlace& place, int slots) {
    if (place.partition)
        queue.partition_slots[*place.partition] = slots;
    else if (place.hosts.empty())
        queue.slots = slots;
    else
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "is for this machine or for Slurm: a run over SSH has its machines to itself", "--slots");
}

}  // namespace

bool can_restart_queued(const Destination& to) {
    return backend_for(to)->restarter() != Restarter::Follower;
}

void add_to_queue(const QueueRequest& wanted, const Places& places, const Progress& progress,
                  const std::function<void(const RunDirectory&)>& queued) {
    const fs::path folder = queue_folder(places);
    refuse_restarts_by_follower(wanted);
    if (wanted.slots) {
        Queue tried;
        set_slots(tried, queue_place(wanted.to), *wanted.slots);
    }
    const auto at = reach(wanted.to, places, wanted.person, progress);
    const std::vector<Wanted> all = wanted_runs(wanted);
    std::vector<Proposal> proposals;
    const Queue present = read_queue(folder);
    for (const Wanted& one : all) {
        proposals.push_back(startable(one, *at, places));
        refuse_taken_output(present, proposals.back().reading.config.output_dir);
    }
    for (size_t i = 0; i < all.size(); ++i) {
        if (i == 0) at->try_start(proposals[i], all[i].options, places);
        const auto [run, plan, rows] =
            prepare_run(proposals[i], all[i].options, at->machine(), places, progress);
        at->continue_at({});  // each run gets separate folders on the nodes
        at->place(run, plan, places, progress);
        at->record_destination(run);
        change_queue(folder, [&, &run = run](Queue& queue) {
            if (wanted.slots) set_slots(queue, queue_place(wanted.to), *wanted.slots);
            queue.runs.push_back({run, 0, all[i].keys});
        });
        wake_queue(places);
        queued(run);
    }
}

}  // namespace ringmaster
