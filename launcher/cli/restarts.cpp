#include "launcher/cli/restarts.h"

#include "engine/error.h"
#include "launcher/cli/person.h"

namespace ringmaster {

namespace {

constexpr std::chrono::seconds kNodePatience(30);  ///< for one that starts anew, or whose link is down

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
    return text;
}

bool is_agreed(const Session& session) {
    if (session.json || !session.out.is_tty) return false;
    const auto answer =
        person_at_terminal(false).ask({"", "go on like that? [y/N] ", false, true, PromptKind::Server, ""});
    return answer && (*answer == "y" || *answer == "Y" || *answer == "yes");
}

Comeback come_back_after_failure(const RunDirectory& run, const RestartWish& wish, const Session& session,
                                 ProgressPrinter& printer) {
    WayOn way = find_way_on(run, kNodePatience, wish.may_shrink, session, printer);
    Comeback comeback = prepare_comeback_on(std::move(way.left.at), run, way.shrunk ? &*way.shrunk : nullptr,
                                            session.places, printer.progress());
    place_comeback(comeback, run, session.places, printer.progress());
    start_comeback(comeback, run, session.places);
    printer.clear();
    return comeback;
}

}  // namespace

WayOn find_way_on(const RunDirectory& run, std::chrono::seconds patience, bool may_shrink,
                  const Session& session, ProgressPrinter& printer) {
    WayOn way;
    way.left = nodes_left(run, patience, session.places, person_at_terminal(false), printer.progress());
    printer.clear();
    if (way.left.lost.empty()) return way;
    const std::string lost = joined(way.left.lost);
    way.shrunk = shrink(run, way.left, session.places);
    complain(printable(lost) + "\non what is left:\n" + shrink_text(*way.shrunk));
    if (!may_shrink && !is_agreed(session))
        throw Error(Failure::Unreachable, lost, {},
                    "`ringmaster resume " + run.name() +
                        "` once all are there again; --shrink goes on with what is left");
    // The answer may have taken an hour.
    way.left.at = reach(way.left.at.to, session.places, person_at_terminal(false), printer.progress());
    return way;
}

int follow_restarting(RunFollower& follower, Reached& at, const RestartWish& wish, const Session& session,
                      const Interrupts& interrupts) {
    const RunDirectory& run = follower.run();
    for (int done = 0;; ++done) {
        int status = 0;
        {
            RunCompanion companion(run, take_sessions(at), person_at_terminal(false));
            status = follow_to_end(follower, CtrlC::StopsRun, session, interrupts, &companion);
        }
        const bool failed = follower.state().state == RunPhase::Failed;
        if (!failed || done >= wish.restarts || interrupts.wants_end() || interrupts.hung_up()) return status;
        complain("restart " + std::to_string(done + 1) + " of " + std::to_string(wish.restarts) + "\n");
        ProgressPrinter printer(session, interrupts);
        try {
            Comeback comeback = come_back_after_failure(run, wish, session, printer);
            if (!session.json) tell_resumed(run, comeback.resumed, session);
            at = std::move(comeback.at);
        } catch (const Error& problem) {
            printer.clear();
            complain("not started again: " + printable(problem.text()) + "\n");
            return status;
        }
    }
}

}  // namespace ringmaster
