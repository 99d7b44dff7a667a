// ringmaster-agent: starts and supervises the ranks of a run on this machine, and outlives the program that
// started it.
#include <cstdio>
#include <string>

#include "engine/error.h"
#include "engine/events/run_claim.h"
#include "launcher/agent/alerts.h"
#include "launcher/agent/detach.h"
#include "launcher/agent/options.h"
#include "launcher/agent/reach.h"
#include "launcher/agent/run_file.h"
#include "launcher/agent/say.h"
#include "launcher/agent/supervisor.h"
#include "launcher/agent/tracking.h"

namespace {

using namespace ringmaster;

int run_agent(const AgentOptions& options) {
    prepare_process();
    if (!options.foreground) enter_own_session();
    const Descriptor log = open_agent_log(options.own_dir());
    if (!options.foreground) say_into(log.get());
    const RunClaim claim(options.own_dir(), "agent");
    Supervisor supervisor(options, take_over_run(options.own_dir()));
    supervisor.start();
    if (options.node == 0) {
        start_tracking(options.run_dir);
        start_alerts(options.run_dir, options.ranks);
    }
    if (options.has_others() && options.node == 0) {
        std::printf("meet %s\n", supervisor.meeting_place().c_str());
        std::fflush(stdout);
    }
    if (!options.foreground) replace_standard_streams(log.get());
    return supervisor.supervise() == RunPhase::Failed ? 1 : 0;
}

int refuse(const Error& error) {
    std::fprintf(stderr, "ringmaster-agent: %s\n", error.text().c_str());
    return static_cast<int>(error.failure);
}

}  // namespace

int main(int argc, char** argv) {
    const CommandSpec& command = agent_command();
    try {
        const Arguments given(command, {argv + 1, argv + argc});
        if (given.has("--help")) return std::fputs(help_of(command).c_str(), stdout) < 0;
        if (given.has("--version")) return std::printf("ringmaster-agent %s\n", RINGMASTER_VERSION) < 0;
        if (given.has("--follow")) return follow_run(given);
        if (given.has("--stop")) return stop_run(given);
        if (given.has("--towards")) return tell_interface(given);
        if (given.has("--trackers")) return tell_trackers(given);
        if (given.has("--track")) return track_run(given);
        if (given.has("--alerts")) return deliver_alerts(given);
        return run_agent(agent_options(given));
    } catch (const Error& error) {
        if (error.failure == Failure::Usage) std::fputs(usage_of(command).c_str(), stderr);
        return refuse(error);
    } catch (const std::exception& error) {
        return refuse(Error(Failure::Unreachable, Code("INTERNAL-ERROR"), error.what()));
    }
}
