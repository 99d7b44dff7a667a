#include "launcher/cli/restarts.h"

#include "engine/error.h"
#include "launcher/cli/person.h"

namespace ringmaster {

namespace {

bool is_agreed(const CommandContext& session) {
    if (session.json || !session.out.is_tty) return false;
    const auto answer =
        person_at_terminal(false).ask({"", "go on like that? [y/N] ", false, true, PromptKind::Server, ""});
    return answer && (*answer == "y" || *answer == "Y" || *answer == "yes");
}

}  // namespace

AgreeToShrink agree_at_terminal(bool may_shrink, const CommandContext& session, ProgressPrinter& printer) {
    return [may_shrink, &session, &printer](const NodesLeft& left, const Shrunk& shrunk) {
        printer.clear();
        for (const NodeReport& lost : left.lost) complain(printable(lost.host + ": " + lost.message) + "\n");
        complain("on what is left:\n" + shrink_text(shrunk));
        return may_shrink || is_agreed(session);
    };
}

int follow_restarting(RunHistory& history, std::unique_ptr<RunBackend> at, const RestartLimits& limits,
                      const CommandContext& session, const Interrupts& interrupts) {
    const RunDirectory& run = history.run();
    for (int done = 0;; ++done) {
        int status = 0;
        {
            const auto follower = at->follow(run, at->take_sessions(), person_at_terminal(false));
            status = follow_to_end(history, CtrlC::StopsRun, session, interrupts, follower.get());
        }
        const bool failed = history.state().state == RunPhase::Failed;
        if (!failed || done >= limits.restarts || interrupts.wants_end() || interrupts.hung_up())
            return status;
        complain("restart " + std::to_string(done + 1) + " of " + std::to_string(limits.restarts) + "\n");
        ProgressPrinter printer(session, interrupts);
        try {
            PreparedResume resume =
                restart_run(run, agree_at_terminal(limits.may_shrink, session, printer), session.places,
                            person_at_terminal(false), printer.progress());
            printer.clear();
            if (!session.json) tell_resumed(run, resume.resumed, session);
            at = std::move(resume.at);
        } catch (const Error& problem) {
            printer.clear();
            complain("not started again: " + printable(problem.text()) + "\n");
            return status;
        }
    }
}

}  // namespace ringmaster
