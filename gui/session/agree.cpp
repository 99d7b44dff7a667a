#include "gui/session/agree.h"

#include <QCoreApplication>
#include <QStringList>

#include "gui/session/failure_words.h"
#include "gui/session/session.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct Agree {
    Q_DECLARE_TR_FUNCTIONS(Agree)
};

QString changed(const QString& what, int64_t before, int64_t after) {
    //: %1 is a name such as "Ranks", %2 and %3 are numbers
    return before == after ? Agree::tr("%1: %2, as before").arg(what).arg(after)
                           : Agree::tr("%1: %2 instead of %3").arg(what).arg(after).arg(before);
}

YesNo shrinkQuestion(const NodesLeft& left, const Shrunk& shrunk) {
    const Plan &before = shrunk.before, &after = shrunk.after;
    QStringList lost;
    for (const NodeReport& node : left.lost) lost << reportWords(node);
    const QStringList changes{
        changed(Agree::tr("Ranks"), before.ranks, after.ranks),
        changed(Agree::tr("Ranks for each sequence"), before.context_parallel.size,
                after.context_parallel.size),
        changed(Agree::tr("Rows a step"), before.batch.global, after.batch.global),
        changed(Agree::tr("Gradient accumulation"), before.batch.accumulation, after.batch.accumulation)};
    const QString losses = before.batch.global == after.batch.global
                               ? Agree::tr("The losses stay the same as before.")
                               : Agree::tr("The losses are no longer the same as before.");
    return {
        Agree::tr("Go on with fewer nodes?"),
        //: %1 is a list of nodes, each with the reason why it is gone
        Agree::tr("Not there any more:\n%1\n\nWith the remaining nodes the run would continue as follows:")
            .arg(lost.join(u'\n')),
        changes.join(u'\n'), losses, Agree::tr("Go on"), Agree::tr("Leave it")};
}

}  // namespace

AgreeToShrink agreeIn(const Session& session, std::function<bool()> given_up) {
    const Session::Ask ask = session.asking();
    if (!ask) return {};
    return [ask, given_up](const NodesLeft& left, const Shrunk& shrunk) {
        return ask(shrinkQuestion(left, shrunk), given_up);
    };
}

}  // namespace ringmaster
