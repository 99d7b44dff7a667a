#include "gui/monitor/verdict_text.h"

#include <QCoreApplication>

#include "gui/look/numbers.h"
#include "gui/look/run_mark.h"
#include "gui/session/finding_words.h"
#include "gui/session/progress_words.h"
#include "gui/session/reason_words.h"

namespace ringmaster {

namespace {

/// If communication takes a larger share of a step than this, the text no longer says that the run goes well.
constexpr double kMuchExposed = 0.1;

struct Verdicts {
    Q_DECLARE_TR_FUNCTIONS(Verdicts)
};

Tone toneOf(Urgency urgency) {
    switch (urgency) {
        case Urgency::Good:
            return Tone::Good;
        case Urgency::Warning:
            return Tone::Warning;
        case Urgency::Critical:
            return Tone::Error;
        case Urgency::None:
            break;
    }
    return Tone::Plain;
}

QString whose(const Diagnosis& found) {
    if (!found.rank) return Verdicts::tr("A rank");
    const QString rank = QString::number(*found.rank);
    //: %1 is a rank's number, %2 its host
    return found.host.empty() ? Verdicts::tr("Rank %1").arg(rank)
                              : Verdicts::tr("Rank %1 on %2").arg(rank, QString::fromStdString(found.host));
}

QString stepOf(const Diagnosis& found) {
    return show::count(found.step.value_or(0));
}

QString resumeFrom(const Diagnosis& found) {
    return found.step ? Verdicts::tr("Resume goes on from the checkpoint of step %1.").arg(stepOf(found))
                      : Verdicts::tr("No checkpoint was saved: resume starts from the beginning.");
}

QString firstLine(const std::string& text) {
    return QString::fromStdString(text.substr(0, text.find('\n')));
}

QString reasonOf(const Diagnosis& found) {
    return reason_of(found.why, found.text, found.code).section(u'\n', 0, 0);
}

VerdictText hang(const Diagnosis& found) {
    const QString who = whose(found), silence = show::duration(found.seconds);
    QString why = !found.rank ? (found.step ? Verdicts::tr("The last finished step is %1.").arg(stepOf(found))
                                            : Verdicts::tr("No rank has finished a step."))
                  : found.step ? Verdicts::tr("%1 stopped first, after step %2.").arg(who, stepOf(found))
                               : Verdicts::tr("%1 has not finished a step.").arg(who);
    if (!found.text.empty() && found.text != "train")
        why += QChar(u' ') + Verdicts::tr("The last phase was %1.").arg(progress_words({found.text}));
    return {Tone::Error, Verdicts::tr("No step for %1.").arg(silence), why,
            Verdicts::tr("Look at the log; stop now and resume if it does not come back.")};
}

VerdictText trouble(const Diagnosis& found) {
    const QString share = show::percent(found.share);
    switch (found.finding) {
        case Finding::NotANumber:
            return {Tone::Error, Verdicts::tr("The loss is not a number."),
                    Verdicts::tr("It began at step %1.").arg(stepOf(found)),
                    found.text.empty()
                        ? Verdicts::tr("Stop now and lower the learning rate or max_grad_norm.")
                        : Verdicts::tr(
                              "Stop now, lower the learning rate or max_grad_norm, and resume from step %1.")
                              .arg(QString::fromStdString(found.text))};
        case Finding::MemoryNearlyFull:
            return {Tone::Warning, Verdicts::tr("Memory is nearly full."),
                    Verdicts::tr("%1 uses %2 of its device at the peak.").arg(whose(found), share),
                    Verdicts::tr("A longer sequence or a larger batch would not fit.")};
        case Finding::Straggler:
            return {toneOf(found.urgency), Verdicts::tr("%1 is slow.").arg(whose(found)),
                    (found.may_be_earlier
                         ? Verdicts::tr("The others wait %1 of a step for it since step %2 or earlier.")
                         : Verdicts::tr("The others wait %1 of a step for it since step %2."))
                        .arg(share, stepOf(found)),
                    Verdicts::tr("Check that device: temperature, clock, other programs.")};
        case Finding::LossSpike:
            return {Tone::Warning, Verdicts::tr("The loss has jumped."),
                    Verdicts::tr("At step %1 it is %2 above the usual.").arg(stepOf(found), share),
                    Verdicts::tr("Watch the gradient norm; lower the learning rate if it stays.")};
        case Finding::ThroughputDrop:
            return {Tone::Warning, Verdicts::tr("It has become slower."),
                    Verdicts::tr("Tokens per second fell by %1.").arg(share),
                    Verdicts::tr("Look for other programs on the nodes, and at the wait for data.")};
        default:
            return {Tone::Warning, Verdicts::tr("Much waiting for communication."),
                    Verdicts::tr("%1 of a step is exposed communication.").arg(share),
                    found.advice ? hint_of(*found.advice)
                                 : Verdicts::tr("Other plans on the Plan page may expose less.")};
    }
}

/// Returns the reason for which the run was stopped, as a sentence; "Stopped." if no reason is known.
QString stopOf(const Diagnosis& found) {
    const QString reason = reasonOf(found);
    return reason.isEmpty() ? Verdicts::tr("Stopped.") : show::sentence(show::begun(reason));
}

VerdictText ending(const Diagnosis& found) {
    if (found.finding == Finding::Gone)
        return {Tone::Warning, Verdicts::tr("Its files cannot be read any more."), firstLine(found.text),
                Verdicts::tr("What is shown was read before.")};
    if (found.finding == Finding::Completed) {
        return {toneOf(found.urgency), Verdicts::tr("Completed."),
                found.text.empty()
                    ? QString()
                    : Verdicts::tr("The result is in %1.").arg(QString::fromStdString(found.text)),
                found.is_cut_short() ? cutShortWords(*found.step) : QString()};
    }
    if (found.finding == Finding::Stopped) return {Tone::Plain, stopOf(found), {}, resumeFrom(found)};
    return {Tone::Error, Verdicts::tr("Failed."), show::begun(reasonOf(found)), resumeFrom(found)};
}

}  // namespace

VerdictText verdictText(const Diagnosis& found) {
    switch (found.finding) {
        case Finding::Waiting:
            return {Tone::Plain, Verdicts::tr("Waiting to start."), {}, {}};
        case Finding::Starting:
            return {
                Tone::Plain,
                Verdicts::tr("Starting."),
                found.text.empty() ? QString() : Verdicts::tr("Now: %1.").arg(progress_words({found.text})),
                {}};
        case Finding::AwaitingRollouts:
            return {Tone::Plain,
                    Verdicts::tr("Waiting for rollouts."),
                    Verdicts::tr("The next step begins when its files are in the folder."),
                    {}};
        case Finding::RunningWell:
            return {found.share < kMuchExposed ? Tone::Good : Tone::Plain,
                    found.share < kMuchExposed ? Verdicts::tr("Running well.") : Verdicts::tr("Running."),
                    Verdicts::tr("%1 of a step is exposed communication; no rank holds the others up.")
                        .arg(show::percent(found.share)),
                    {}};
        case Finding::Saving:
            return {Tone::Plain, Verdicts::tr("Saving the final model."), {}, {}};
        case Finding::Stopping:
            return {Tone::Plain,
                    Verdicts::tr("Stopping."),
                    Verdicts::tr("The step is finished and a checkpoint saved."),
                    {}};
        case Finding::Disconnected:
            return {Tone::Warning, Verdicts::tr("Disconnected."),
                    Verdicts::tr("Last heard %1.").arg(show::age(found.seconds)),
                    found.text.empty() ? Verdicts::tr("The run may well go on; what is known stays here.")
                                       : QString::fromStdString(found.text)};
        case Finding::Hanging:
            return hang(found);
        case Finding::Completed:
        case Finding::Gone:
        case Finding::Stopped:
        case Finding::Failed:
            return ending(found);
        default:
            return trouble(found);
    }
}

}  // namespace ringmaster
