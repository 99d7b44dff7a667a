#include "gui/session/job.h"

#include <QtConcurrent/QtConcurrentRun>
#include <variant>

#include "engine/error.h"
#include "gui/session/finding_words.h"
#include "gui/session/long_wait.h"
#include "gui/session/on_gui.h"
#include "gui/session/progress_words.h"
#include "launcher/nodes/fleet.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

namespace {

struct WasCancelled {};
using Ending = std::variant<QString, JobFailure, WasCancelled>;

QString text(const std::string& words) {
    return QString::fromStdString(words);
}

std::vector<MachineFailure> machines_of(const NodesError& found) {
    std::vector<MachineFailure> machines;
    for (const NodeReport& report : found.reports)
        machines.push_back({text(report.host), text(report.message), text(report.next), report.finding});
    return machines;
}

Ending ending_of(const Job::Work& work, const Job::Reporter& reporter) {
    try {
        return work(reporter);
    } catch (const PlanRefused& refused) {
        return JobFailure{text(refused.what()), place_of(refused), hint_of(refused),
                          refused.plan.diagnostics};
    } catch (const NodeError& found) {
        return JobFailure{text(found.what()),
                          text(found.where),
                          hint_of(found),
                          {},
                          {{text(found.where), text(found.what()), text(found.hint), found.finding}}};
    } catch (const NodesError& found) {
        return JobFailure{message_of(found), {}, hint_of(found), {}, machines_of(found)};
    } catch (const Error& error) {
        return JobFailure{message_of(error), place_of(error), hint_of(error), {}};
    } catch (const Cancelled&) {
        return WasCancelled{};
    } catch (const std::exception& unforeseen) {
        return JobFailure{text(unforeseen.what()), {}, {}, {}};
    }
}

}  // namespace

Job::Job(Work work, QObject* parent)
    : QObject(parent), m_work(std::move(work)), m_cancelled(std::make_shared<std::atomic<bool>>(false)) {
    qRegisterMetaType<JobFailure>();
}

Job::~Job() {
    cancel();
}

void Job::start() {
    // The job may be destroyed before its work ends, so calls go through a guarded pointer on the GUI thread.
    const QPointer<Job> self(this);
    auto on_gui = [self](auto what) { onGui(self, what); };
    Reporter reporter;
    reporter.phase = [on_gui](int phase) { on_gui([phase](Job& job) { Q_EMIT job.phaseReached(phase); }); };
    reporter.progress.step = [on_gui](const ProgressStep& now) {
        on_gui([now](Job& job) {
            Q_EMIT job.progressed(progress_words(now), now.done, now.total, now.is_bytes);
        });
    };
    reporter.progress.warning = [on_gui](const std::string& words) {
        on_gui([words](Job& job) { Q_EMIT job.warned(note_of(words)); });
    };
    reporter.progress.cancelled = [flag = m_cancelled] { return flag->load(); };
    std::ignore = QtConcurrent::run([work = m_work, reporter, on_gui] {
        const LongWait waits;
        const Ending ending = ending_of(work, reporter);
        on_gui([ending](Job& job) {
            if (const auto* result = std::get_if<QString>(&ending)) Q_EMIT job.finished(*result);
            if (const auto* failure = std::get_if<JobFailure>(&ending)) Q_EMIT job.failed(*failure);
            if (std::holds_alternative<WasCancelled>(ending)) Q_EMIT job.cancelled();
        });
    });
}

}  // namespace ringmaster
