#include "launcher/cli/live.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/error.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/backends/backend.h"
#include "launcher/base/format.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/person.h"
#include "launcher/cli/run_view.h"
#include "launcher/cli/sample_text.h"
#include "launcher/history/diagnosis.h"
#include "launcher/history/figures.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace {

constexpr int64_t kKeptSteps = 512;
constexpr int64_t kShortRun = 50;  ///< runs of up to this many steps print every step

constexpr const char* kHideCursor = "\033[?25l";
constexpr const char* kShowCursor = "\033[?25h";

/// The plan's values that the view needs. A run whose plan cannot be read can still be watched.
struct PlanFacts {
    std::optional<int64_t> total_steps;
    int64_t logging_steps = 1;
    std::string output_dir;
    std::optional<Plan> plan;
};

PlanFacts facts_of(const RunDirectory& run) {
    PlanFacts facts;
    try {
        const Plan& plan = facts.plan.emplace(read_plan(run.plan().string()));
        facts.total_steps = plan.batch.total_steps;
        facts.logging_steps = plan.config.logs_every();
        facts.output_dir = plan.config.output_dir;
    } catch (const Error&) {
        return facts;
    }
    if (facts.total_steps && *facts.total_steps <= kShortRun) facts.logging_steps = 1;
    return facts;
}

Diagnosis diagnosis_of(const RunHistory& run, const PlanFacts& facts) {
    Evidence evidence = evidence_of(run, unix_now());
    if (facts.plan) add_plan(evidence, *facts.plan);
    return diagnose(evidence);
}

/// Returns one line of diagnosis for a running run; empty if there is nothing to say yet.
std::string verdict_line(const RunHistory& run, const Diagnosis& found, const TextStyle& ink) {
    if (run.state().state != RunPhase::Running || found.urgency == Urgency::None) return "";
    const DiagnosisText advice = text_of(found);
    const std::string verdict = printable(advice.verdict);
    const std::string coloured = found.urgency == Urgency::Good      ? ink.green(verdict)
                                 : found.urgency == Urgency::Warning ? ink.yellow(verdict)
                                                                     : ink.red(verdict);
    const std::string why = printable(advice.why), next = printable(advice.next);
    return coloured + (why.empty() ? "" : "  " + why) + (next.empty() ? "" : "  " + ink.dim(next));
}

std::string alert_line(const Alert& alert, const TextStyle& ink) {
    return ink.yellow("alert") + "  " + text_of(alert);
}

/// Returns whether stdout has accepted all text so far. Also checks the error flag, because a write that
/// failed before this flush left no other trace.
bool all_was_written() {
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

/// Writes the events as a picture redrawn in place, as plain lines, or as JSON.
class Output {
  public:
    Output(const RunHistory& run, const PlanFacts& facts, const CommandContext& session)
        : run_(run),
          facts_(facts),
          session_(session),
          lines_(facts.total_steps, facts.logging_steps),
          in_place_(!session.json && session.out.is_tty) {
        if (in_place_) std::fputs(kHideCursor, stdout);
    }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() {
        if (in_place_) print(kShowCursor);
    }

    /// Writes events and the alerts that they raised. Returns false if nobody reads stdout any more.
    bool take(const std::vector<EventLine>& events, const std::vector<Alert>& alerts) {
        if (session_.json) {
            for (const EventLine& event : events) std::fputs((to_json_line(event) + "\n").c_str(), stdout);
        } else if (!in_place_) {
            for (const std::string& line : lines_.take(run_, events))
                std::fputs((line + "\n").c_str(), stdout);
        }
        for (const Alert& alert : alerts) {
            alert_ = alert;
            if (in_place_) continue;
            const std::string line =
                session_.json ? to_json(alert).dump() : alert_line(alert, session_.out.ink);
            std::fputs((line + "\n").c_str(), stdout);
        }
        return all_was_written();
    }

    bool draw(const std::string& note) {
        if (!in_place_) return true;
        Terminal terminal = terminal_of(stdout);  // the user may have resized it
        const Diagnosis found = diagnosis_of(run_, facts_);
        std::vector<std::string> heads = {verdict_line(run_, found, terminal.ink)};
        if (alert_) heads.push_back(alert_line(*alert_, terminal.ink));
        std::erase(heads, std::string());
        terminal.height = std::max(4, terminal.height - static_cast<int>(heads.size()));
        std::vector<std::string> picture =
            run_picture(run_, facts_.total_steps, goes_on(found.finding), terminal, note);
        for (std::string& head : heads) head = fit(head, terminal.width);
        if (!picture.empty()) picture.insert(picture.begin() + 1, heads.begin(), heads.end());
        std::string text = drawn_ > 0 ? "\033[" + std::to_string(drawn_) + "A\r" : "\r";
        for (const std::string& line : picture) text += line + "\033[K\n";
        text += "\033[J";
        drawn_ = picture.size();
        std::fputs(text.c_str(), stdout);
        return all_was_written();
    }

  private:
    const RunHistory& run_;
    const PlanFacts& facts_;
    const CommandContext& session_;
    RunLines lines_;
    bool in_place_;
    std::optional<Alert> alert_;  ///< newest alert
    size_t drawn_ = 0;
};

/// Passes each of the user's stop requests on once, and reports what happens next.
class StopRequests {
  public:
    StopRequests(const RunDirectory& run, const Interrupts& interrupts, const CommandContext& session)
        : run_(run), interrupts_(interrupts), session_(session) {}

    void pass_on() {
        if (interrupts_.wants_end() && !saving_) {
            saving_ = true;
            ask(StopHow::FinishAndSave,
                "stopping: the step is finished and a checkpoint saved; Ctrl-C again stops now");
        }
        if (interrupts_.ctrl_c() > 1 && !now_) {
            now_ = true;
            ask(StopHow::Now, "stopping now");
        }
    }
    const std::string& note() const { return note_; }

  private:
    void ask(StopHow how, const char* note) {
        try {
            backend_of(run_)->stop(run_, how, person_at_terminal(false));
            note_ = note;
        } catch (const Error& problem) {
            note_ = problem.text();
        }
        if (session_.json || !session_.out.is_tty) complain(note_ + "\n");
    }

    const RunDirectory& run_;
    const Interrupts& interrupts_;
    const CommandContext& session_;
    std::string note_;
    bool saving_ = false, now_ = false;
};

/// Keeps the status line below the live display. Without a live display, prints each note of the run's
/// follower when it changes.
class Notes {
  public:
    Notes(const RunFollower* follower, const CommandContext& session)
        : companion_(follower), session_(session) {}

    const std::string& tell(const std::string& hint, const std::string& stopping) {
        RunNote note = companion_ != nullptr ? companion_->job_note() : RunNote();
        if (note.text.empty() && companion_ != nullptr) note = {companion_->trouble().text(), ""};
        if (note.text != told_ && !note.text.empty() && (session_.json || !session_.out.is_tty))
            complain(printable(note.text) + "\n");
        told_ = note.text;
        shown_ = !stopping.empty() ? stopping : told_.empty() ? hint : printable(note.whole()) + "; " + hint;
        return shown_;
    }

  private:
    const RunFollower* companion_;
    const CommandContext& session_;
    std::string told_, shown_;
};

/// Codes that mean "not started" if a rank ends with one of them before it has connected to the other ranks.
constexpr std::array<std::string_view, 6> kNotStarted{"ENGINE-CUDA",   "ENGINE-DEVICE", "INTERNAL-ERROR",
                                                      "PROGRAM-START", "RANKS-MEETING", "RANKS-TRANSFER"};

bool could_not_start(const RunHistory& run) {
    const int attempt = run.state().attempt;
    const bool met = std::any_of(run.ranks().begin(), run.ranks().end(), [attempt](const RankHistory& rank) {
        return rank.hello && rank.hello->attempt == attempt;
    });
    return !met && std::find(kNotStarted.begin(), kNotStarted.end(), run.state().code) != kNotStarted.end();
}

int exit_status(const RunHistory& run) {
    if (run.state().state != RunPhase::Failed) return 0;
    return static_cast<int>(could_not_start(run) ? Failure::Unreachable : Failure::Refused);
}

/// Returns where the model of a remote run is, "gpu1:/home/ann/…"; empty if it is here already.
std::string model_there(const RunDirectory& run, const std::string& output_dir) {
    std::error_code none;
    for (const char* settings : {"config.json", "adapter_config.json"}) {
        if (std::filesystem::exists(std::filesystem::path(output_dir) / settings, none)) return "";
    }
    return printable(backend_of(run)->model_elsewhere(run));
}

void say_ending(const RunDirectory& run, RunPhase state, const CommandContext& session) {
    if (state == RunPhase::Failed) {
        complain(ending_text(run, session.err));
    } else if (!session.json) {
        print(ending_text(run, session.out) + newest_samples(run, session.out));
    }
}

}  // namespace

RunHistory terminal_history(const RunDirectory& run) {
    return RunHistory(run, kKeptSteps);
}

int follow_to_end(RunHistory& history, CtrlC ctrl_c, const CommandContext& session,
                  const Interrupts& interrupts, RunFollower* follower) {
    const RunDirectory& run = history.run();
    const PlanFacts facts = facts_of(run);
    StopRequests stop(run, interrupts, session);
    const std::string hint = ctrl_c == CtrlC::StopsRun
                                 ? "Ctrl-C stops and saves; closing the terminal leaves the run alive"
                                 : "Ctrl-C leaves, the run goes on";
    {
        Output output(history, facts, session);
        const auto given_up = [&] { return interrupts.wants_end() || interrupts.hung_up(); };
        Notes notes(follower, session);
        while (true) {
            const std::vector<EventLine> events = history.poll();
            bool over = is_over(history.state().state) && events.empty();
            if (over && follower != nullptr) over = follower->is_really_over(given_up);
            const bool heard = output.take(events, history.take_alerts());
            const std::string& note = notes.tell(hint, over ? "" : stop.note());
            if (interrupts.hung_up() || !heard) return 0;
            const bool catching_up = events.size() > 1000;
            if (!catching_up && !output.draw(over ? "" : note)) return 0;
            if (over) break;
            if (ctrl_c == CtrlC::StopsRun) {
                stop.pass_on();
            } else if (interrupts.wants_end()) {
                return kInterrupted;
            }
            if (!catching_up) interrupts.wait(kPollMs);
        }
    }
    history.poll();  // the follower may have written the reason
    say_ending(run, history.state().state, session);
    return exit_status(history);
}

std::string ending_text(const RunDirectory& run, const Terminal& terminal) {
    const RunState state = read_run_state(run.dir);
    const PlanFacts facts = facts_of(run);
    const TextStyle& ink = terminal.ink;
    const auto seconds =
        state.ended > 0 ? duration_s(state, ran_before_s(run, state), state.ended) : std::nullopt;
    const std::string took = seconds ? " after " + format_duration(*seconds) : "";
    const std::string reason = printable(state.reason);
    const std::string kind = facts.plan && facts.plan->config.lora.on() ? "adapter" : "model";
    switch (state.state) {
        case RunPhase::Completed: {
            const RunSummary end = read_summary(run);
            const std::string completed = end.is_cut_short() ? ink.bold(ink.yellow("completed")) + took +
                                                                   ". " + cut_short_text(end.step.value_or(0))
                                                             : ink.bold(ink.green("completed")) + took;
            if (const std::string there = model_there(run, facts.output_dir); !there.empty())
                return completed + "\nthe " + kind + " is in " + there +
                       "\nbring it here with: ringmaster fetch " + shell_quoted(run.dir.string()) + "\n";
            return completed + "\nthe " + kind + " is in " + printable(facts.output_dir) + "\n";
        }
        case RunPhase::Stopped:
            return ink.bold(ink.yellow("stopped")) + took + (reason.empty() ? "" : ": " + reason) +
                   "\ngo on with: ringmaster resume " + shell_quoted(run.dir.string()) + "\n";
        case RunPhase::Failed:
            return ink.bold(ink.red("failed")) + took + ": " + reason + "\nthe run directory is " +
                   run.dir.string() + "\n";
        default:
            return std::string(to_string(state.state)) + (reason.empty() ? "" : ": " + reason) + "\n";
    }
}

void print_run_line(const RunDirectory& run) {
    print(nlohmann::ordered_json{{"type", "run"}, {"dir", run.dir.string()}}.dump() + "\n");
}

void tell_resumed(const RunDirectory& run, const ResumedRun& resumed, const CommandContext& session) {
    if (session.json) {
        print_run_line(run);
        return;
    }
    print(run.name() +
          (resumed.from_step ? " goes on after step " + format_count(*resumed.from_step)
                             : " has no whole checkpoint: it starts from the beginning") +
          "\n");
}

Progress ProgressPrinter::progress() {
    Progress progress;
    progress.step = [this](const ProgressStep& step) { show(step); };
    progress.warning = [this](const std::string& text) {
        clear();
        complain("warning: " + printable(text) + "\n");
    };
    progress.cancelled = [this] { return interrupts_.wants_end(); };
    return progress;
}

void ProgressPrinter::show(const ProgressStep& step) {
    const std::string name = printable(english(step));
    if (!session_.err.is_tty) {
        if (name != shown_) complain(name + " …\n");
        shown_ = name;
        return;
    }
    constexpr int kBar = 24;
    const auto counted = [&step](int64_t n) { return step.is_bytes ? format_bytes(n) : format_count(n); };
    std::string text = name;
    if (step.total > 0) {
        const double share = static_cast<double>(step.done) / static_cast<double>(step.total);
        text = bar(share, kBar) + "  " + name + " " + counted(step.done) + "/" + counted(step.total);
    } else if (step.done > 0) {
        text += " " + counted(step.done);
    }
    complain("\r" + fit(text, session_.err.width - 1) + "\033[K");
    drawn_ = true;
}

void ProgressPrinter::clear() {
    if (drawn_) complain("\r\033[K");
    drawn_ = false;
}

}  // namespace ringmaster
