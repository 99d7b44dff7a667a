// queue: runs that wait on this machine for their turn.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/error.h"
#include "launcher/backends/backend.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/look_commands.h"
#include "launcher/cli/run_list.h"
#include "launcher/queue/queue_file.h"
#include "launcher/queue/queue_runner.h"
#include "launcher/queue/sweep.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

OptionSpec slots_option() {
    return {"--slots", "N",
            "how many runs may train at the same time on this machine (1); a run on GPUs\n"
            "always has the machine to itself"};
}

void take_slots(const Arguments& arguments, Queue& queue) {
    if (const auto slots = arguments.whole("--slots", 1))
        queue.slots = static_cast<int>(std::min<int64_t>(*slots, 1024));
}

// ----------------------------------------------------------- add

/// A run that is to be made, and the keys of the sweep that set it apart.
struct Wanted {
    Request request;
    RunOptions options;
    SweptKeys keys;
};

/// Gives each run of a sweep an output folder of its own, named like the run.
void part_outputs(Wanted& wanted, const std::string& output_dir) {
    if (wanted.keys.contains("output_dir") || output_dir.empty()) return;
    wanted.request.set.emplace_back(
        "output_dir", nlohmann::json((fs::path(output_dir) / wanted.options.name).string()).dump());
}

std::vector<Wanted> wanted_runs(const Arguments& arguments, const Session& session) {
    const std::vector<SweptKeys> sweep = runs_of_sweep(arguments.all("--sweep"));
    const Request request = request_of(arguments);
    const std::string output_dir = read_request(request).config.output_dir;
    const std::string name =
        arguments.has("--name") ? arguments.text("--name") : suggest_run_name(arguments.operand());
    const size_t digits = std::to_string(sweep.size()).size();
    std::vector<Wanted> all;
    for (const SweptKeys& keys : sweep) {
        Wanted& one = all.emplace_back();
        one.request = request;
        one.keys = keys;
        one.options.runs_dir = runs_dir_of(arguments, session);
        one.options.overwrite = arguments.has("--overwrite");
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

Proposal startable(const Wanted& wanted, const RunBackend& at, const Session& session) {
    Proposal proposal = at.propose(wanted.request, session.places);
    at.require_startable(proposal.plan, session.places);
    check_output_dir(proposal.reading.config.output_dir, wanted.options.overwrite);
    return proposal;
}

int run_add(const Arguments& arguments, const Session& session) {
    const fs::path folder = queue_folder(session.places);
    const Interrupts interrupts;
    const auto at = reach({}, session.places, {}, {});
    const std::vector<Wanted> all = wanted_runs(arguments, session);
    std::vector<Proposal> proposals;
    const Queue present = read_queue(folder);
    for (const Wanted& one : all) {
        proposals.push_back(startable(one, *at, session));
        refuse_taken_output(present, proposals.back().reading.config.output_dir);
    }
    ProgressPrinter printer(session, interrupts);
    for (size_t i = 0; i < all.size(); ++i) {
        const RunDirectory run =
            prepare_run(proposals[i], all[i].options, at->machine(), session.places, printer.progress()).run;
        printer.clear();
        change_queue(folder, [&](Queue& queue) {
            take_slots(arguments, queue);
            queue.runs.push_back({run, 0, all[i].keys});
        });
        wake_queue(session.places);
        if (session.json) {
            print_run_line(run);
        } else {
            print("queued " + printable(run.name()) + "\n");
        }
    }
    return 0;
}

// ----------------------------------------------------------- list

/// Returns the runs of the queue, each with what has become of it.
std::vector<std::pair<QueuedRun, RunSummary>> listed(const Queue& queue) {
    std::vector<std::pair<QueuedRun, RunSummary>> all;
    std::map<fs::path, std::vector<RunSummary>> known;  // by folder of runs
    for (const QueuedRun& one : queue.runs) {
        const fs::path runs_dir = one.run.dir.parent_path();
        if (!known.contains(runs_dir)) known[runs_dir] = list_runs(runs_dir);
        for (const RunSummary& run : known[runs_dir]) {
            if (run.dir == one.run.dir) all.emplace_back(one, run);
        }
    }
    return all;
}

void print_list(const Session& session) {
    const Queue queue = read_queue(queue_folder(session.places));
    const auto all = listed(queue);
    if (!session.json && all.empty()) return print("nothing is queued\n");
    std::set<std::string> swept;  // keys that set some of the runs apart
    for (const auto& [queued, run] : all) {
        for (const auto& [key, value] : queued.set) swept.insert(key);
    }
    RunList list({"#"}, {swept.begin(), swept.end()});
    for (const auto& [queued, run] : all) {
        nlohmann::json set = nlohmann::json::object();
        std::vector<std::string> cells;
        for (const std::string& key : swept) {
            const auto value = queued.set.find(key);
            cells.push_back(value == queued.set.end() ? "–" : value->second);
            if (value != queued.set.end()) set[key] = nlohmann::json::parse(value->second);
        }
        list.add(run, {std::to_string(list.size() + 1)}, cells);
        if (!session.json) continue;
        nlohmann::json line = summary_to_json(run);
        line["type"] = "queued";
        line["set"] = std::move(set);
        print_line(line);
    }
    if (session.json) return print_line({{"type", "queue"}, {"slots", queue.slots}, {"runs", all.size()}});
    print(list.text(session.out) + session.out.ink.dim(std::to_string(queue.slots) + " at a time") + "\n");
}

int run_list(const Arguments& arguments, const Session& session) {
    if (arguments.has("--slots"))
        change_queue(queue_folder(session.places), [&](Queue& queue) { take_slots(arguments, queue); });
    wake_queue(session.places);
    print_list(session);
    return 0;
}

// ----------------------------------------------------------- remove, move

using Place = std::vector<QueuedRun>::iterator;

Place place_in(Queue& queue, const RunDirectory& run) {
    const auto found = std::find_if(queue.runs.begin(), queue.runs.end(),
                                    [&](const QueuedRun& one) { return one.run.dir == run.dir; });
    if (found != queue.runs.end()) return found;
    throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is not in the queue", run.name(),
                "`ringmaster queue` lists what is");
}

int run_remove(const Arguments& arguments, const Session& session) {
    const RunDirectory run = run_of(arguments, session);
    change_queue(queue_folder(session.places), [&](Queue& queue) {
        const Place place = place_in(queue, run);
        if (queue_state(run) == QueueState::Active)
            throw Error(Failure::Refused, Code("RUN-ACTIVE"), "has been started", run.name(),
                        "`ringmaster stop " + run.name() + "` stops it");
        queue.runs.erase(place);
    });
    print_list(session);
    return 0;
}

int run_move(const Arguments& arguments, const Session& session) {
    const RunDirectory run = run_of(arguments, session);
    const auto to = arguments.whole("--to", 1);
    if (!to) throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "needs --to N, the new place", "move");
    change_queue(queue_folder(session.places), [&](Queue& queue) {
        const Place place = place_in(queue, run);
        const QueuedRun moved = *place;
        queue.runs.erase(place);
        queue.runs.insert(queue.runs.begin() + std::min<int64_t>(*to - 1, std::ssize(queue.runs)), moved);
    });
    print_list(session);
    return 0;
}

int run_runner(const Arguments& /*none*/, const Session& session) {
    run_queue(session.places);
    return 0;
}

constexpr const char* kQueue =
    "A run is prepared when it is added: its configuration and rows are kept as they are then. A process of "
    "its own starts\n"
    "the runs; after a restart of the machine the next Ringmaster command goes on, and a run that was cut "
    "off "
    "continues\n"
    "from its newest checkpoint. `ringmaster watch RUN` follows one, `ringmaster stop RUN` stops one.";

}  // namespace

std::vector<Command> queue_commands() {
    CommandSpec add{"queue add",
                    "CONFIG",
                    true,
                    "Prepares a run and queues it on this machine; with --sweep several.",
                    request_options(),
                    kQueue};
    add.options.insert(add.options.end(),
                       {{"--sweep", "key=[…]|FILE",
                         "one run for each value; repeated, one for each combination. A FILE holds a YAML\n"
                         "list of mappings, one for each run. Each run gets its own folder in output_dir",
                         true},
                        {"--name", "NAME", "the run's name (default: the file's name and date)"},
                        {"--overwrite", "", "write into an output_dir that holds files of other programs"},
                        {"--restarts", "N", "restart a failed run automatically, up to N times (0)"},
                        {"--no-preflight", "", "skip preflight"},
                        slots_option(),
                        runs_dir_option()});
    const std::vector<OptionSpec> run_options = {runs_dir_option(), json_option()};
    std::vector<OptionSpec> move_options = run_options;
    move_options.insert(move_options.begin(), {"--to", "N", "the run's new place in the list, from 1"});
    return {
        {std::move(add), run_add, true},
        {{"queue list", "", false, "", {slots_option(), json_option()}, kQueue}, run_list, true},
        {{"queue remove", "RUN", true, "Takes a run off the queue; its directory stays.", run_options, ""},
         run_remove,
         true},
        {{"queue move", "RUN", true, "Moves a run of the queue to another place.", move_options, ""},
         run_move,
         true},
        {{"queue run", "", false, "", {}, ""}, run_runner},
        {{"queue",
          "",
          false,
          "Lists the runs that are queued on this machine, with their results.",
          {slots_option(), json_option()},
          kQueue},
         run_list,
         true}};
}

}  // namespace ringmaster
