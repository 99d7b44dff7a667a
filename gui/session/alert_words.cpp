#include "gui/session/alert_words.h"

#include <QCoreApplication>

#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

struct Alerts {
    Q_DECLARE_TR_FUNCTIONS(Alerts)
};

}  // namespace

QString alertText(const Alert& alert) {
    const QString step = show::count(alert.step), rank = QString::number(alert.rank.value_or(0));
    switch (alert.kind) {
        case AlertKind::NotANumber:
            return Alerts::tr("The loss is not a number at step %1").arg(step);
        case AlertKind::Spike:
            //: %1 is the loss, %2 the step, %3 the loss before
            return Alerts::tr("The loss jumped to %1 at step %2; usually it is %3")
                .arg(show::loss(alert.value), step, show::loss(alert.usual));
        case AlertKind::Stall:
            if (alert.rank)
                return Alerts::tr("Nothing was heard for %1 after step %2; rank %3 is behind")
                    .arg(show::duration(alert.value), step, rank);
            return Alerts::tr("Nothing was heard for %1 after step %2")
                .arg(show::duration(alert.value), step);
        case AlertKind::Plateau:
            return Alerts::tr("The loss has not fallen for %1 steps: %2 at step %3")
                .arg(show::count(alert.steps), show::loss(alert.value), step);
        case AlertKind::SlowRank:
            return Alerts::tr("Rank %1 is slow at step %2: the others wait %3 of a step for it")
                .arg(rank, step, show::percent(alert.value));
        case AlertKind::Failed:
            return Alerts::tr("The run ended after step %1, before it was complete").arg(step);
        case AlertKind::Completed:
            return Alerts::tr("The run is complete: step %1 was its last").arg(step);
    }
    return {};
}

QString alertName(AlertKind kind) {
    switch (kind) {
        case AlertKind::NotANumber:
            return Alerts::tr("The loss is not a number");
        case AlertKind::Spike:
            return Alerts::tr("The loss jumps");
        case AlertKind::Stall:
            return Alerts::tr("The run stalls");
        case AlertKind::Plateau:
            return Alerts::tr("The loss no longer falls");
        case AlertKind::SlowRank:
            return Alerts::tr("A rank is slow");
        case AlertKind::Failed:
            return Alerts::tr("The run ends before it is complete");
        case AlertKind::Completed:
            return Alerts::tr("The run is complete");
    }
    return {};
}

}  // namespace ringmaster
