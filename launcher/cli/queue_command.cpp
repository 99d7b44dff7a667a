// queue: lists and changes the queue of runs that wait on this machine.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/error.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/destination.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"
#include "launcher/cli/run_list.h"
#include "launcher/queue/queue_add.h"
#include "launcher/queue/queue_edit.h"
#include "launcher/queue/queue_runner.h"
#include "launcher/queue/queue_service.h"

namespace ringmaster {

namespace {

OptionSpec slots_option() {
    return {"--slots", "N",
            "how many runs may train at the same time on this machine (1); a run on GPUs\n"
            "always has the machine to itself. With --slurm: how many jobs of the queue may wait or\n"
            "run in the partition (any number: Slurm orders them)"};
}

std::optional<int> slots_of(const Arguments& arguments) {
    const auto slots = arguments.whole("--slots", 1);
    return slots ? std::optional(static_cast<int>(std::min<int64_t>(*slots, kMostSlots))) : std::nullopt;
}

int run_add(const Arguments& arguments, const CommandContext& session) {
    refuse_contradictions(arguments);
    QueueRequest wanted;
    wanted.to = destination_of(arguments);
    wanted.request = request_of(arguments);
    wanted.sweep = arguments.all("--sweep");
    wanted.slots = slots_of(arguments);
    wanted.options.runs_dir = runs_dir_of(arguments, session);
    wanted.options.overwrite = arguments.has("--overwrite");
    if (arguments.has("--name")) wanted.options.name = arguments.text("--name");
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const std::atomic<bool> placing = false;
    wanted.person = person_at_terminal(arguments.has("--trust-on-first-use"), interrupts, placing);
    wanted.person.ask = {};
    const auto queued = [&](const RunDirectory& run) {
        printer.clear();
        if (session.json) {
            print_run_line(run);
        } else {
            print("queued " + printable(run.name()) + "\n");
        }
    };
    unless_interrupted(interrupts, [&] { add_to_queue(wanted, session.places, printer.progress(), queued); });
    return 0;
}

/// Returns {"hosts": […], "partition": "…"|null}.
nlohmann::json place_to_json(const QueuePlace& place) {
    nlohmann::json partition = nullptr;
    if (place.partition) partition = *place.partition;
    return {{"hosts", place.hosts}, {"partition", std::move(partition)}};
}

void print_list(const CommandContext& session) {
    const Queue queue = read_queue(queue_folder(session.places));
    const auto all = queued_runs(queue);
    if (!session.json && all.empty()) return print("nothing is queued\n");
    const std::vector<std::string> swept = swept_keys(queue);
    RunList list({"#"}, swept);
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
        line["place"] = place_to_json(queue_place(queued.run));
        line["set"] = std::move(set);
        print_line(line);
    }
    if (session.json) return print_line({{"type", "queue"}, {"slots", queue.slots}, {"runs", all.size()}});
    print(list.text(session.out) + session.out.ink.dim(std::to_string(queue.slots) + " at a time") + "\n");
}

int run_list(const Arguments& arguments, const CommandContext& session) {
    if (const auto slots = slots_of(arguments))
        change_queue(queue_folder(session.places), [&](Queue& queue) { queue.slots = *slots; });
    wake_queue(session.places);
    print_list(session);
    return 0;
}

int run_remove(const Arguments& arguments, const CommandContext& session) {
    remove_from_queue(queue_folder(session.places), run_of(arguments, session));
    print_list(session);
    return 0;
}

int run_move(const Arguments& arguments, const CommandContext& session) {
    const RunDirectory run = run_of(arguments, session);
    const auto to = arguments.whole("--to", 1);
    if (!to) throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), "needs --to N, the new place", "move");
    move_in_queue(queue_folder(session.places), run, *to - 1);
    print_list(session);
    return 0;
}

int run_runner(const Arguments& arguments, const CommandContext& session) {
    Places places = session.places;
    places.runs_dir = runs_dir_of(arguments, session);
    run_queue(places);
    return 0;
}

void print_service(const CommandContext& session) {
    const QueueService service = queue_service();
    if (session.json) {
        nlohmann::json lingers = nullptr;
        if (service.lingers) lingers = *service.lingers;
        return print_line({{"type", "service"},
                           {"on", service.is_on},
                           {"unit", service.unit.string()},
                           {"lingers", lingers},
                           {"obstacle", service.obstacle}});
    }
    if (!service.obstacle.empty()) return print("off: " + printable(service.obstacle) + "\n");
    if (!service.is_on)
        return print(
            "off: after a reboot the queue continues when you next run a Ringmaster command or open "
            "the app\n");
    print("on: the queue goes on by itself after a restart of the machine (" +
          printable(service.unit.string()) + ")\n");
    if (service.lingers.value_or(false)) return;
    print(
        "The service begins when you log in, and runs that it has started end when you log out. To start "
        "it at boot\nand to keep its runs when you log out: loginctl enable-linger\n");
}

int run_service(const Arguments& arguments, const CommandContext& session) {
    const std::string& state = arguments.operand();
    if (state == "on") {
        switch_queue_service_on(session.places);
    } else if (state == "off") {
        switch_queue_service_off();
    } else if (!state.empty() && state != "status") {
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "'" + state + "' is none of on, off and status",
                    "queue service");
    }
    print_service(session);
    return 0;
}

constexpr const char* kQueue =
    "A run is prepared when it is added: its configuration and rows are kept as they are then. A process of "
    "its own starts\n"
    "the runs; after a restart of the machine the next Ringmaster command goes on, and a run that was cut "
    "off "
    "continues\n"
    "from its newest checkpoint. `ringmaster watch RUN` follows one, `ringmaster stop RUN` stops one.\n"
    "With --node the machines must let you log in with a key and without a question. The queue stays on this "
    "machine: it starts\n"
    "the runs there while this machine is up, one after the other on the same machines; runs that are at "
    "work "
    "there do not\n"
    "need it.";

constexpr const char* kService =
    "`on` writes and enables the user unit ringmaster-queue.service, `off` removes it, and without either "
    "the present\n"
    "state is shown. The unit begins when you log in; `loginctl enable-linger` starts it at boot and keeps\n"
    "its runs when you log out. The unit holds the present runs folder and Ringmaster's environment "
    "variables:\n"
    "after you change either, run `on` again.";

}  // namespace

std::vector<Command> queue_commands() {
    CommandSpec add{"queue add",
                    "CONFIG",
                    true,
                    "Prepares a run and queues it for this machine, others or Slurm; with --sweep several.",
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
    std::ranges::move(destination_options(), std::back_inserter(add.options));
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
        {{"queue run", "", false, "", {runs_dir_option()}, ""}, run_runner},
        {{"queue service",
          "on|off|status",
          false,
          "Lets this user's systemd go on with the queue after a restart of the machine.",
          {json_option()},
          kService},
         run_service,
         true},
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
