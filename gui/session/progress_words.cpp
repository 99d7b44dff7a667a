#include "gui/session/progress_words.h"

#include <QCoreApplication>

#include "engine/filled_in.h"
#include "gui/look/numbers.h"

namespace ringmaster {

QString progress_words(const ProgressStep& step) {
    const char* text = progress_text(step.code);
    if (text == nullptr) return QString::fromStdString(step.code);
    const std::string words = QCoreApplication::translate("Progress", text).toStdString();
    return QString::fromStdString(filled_in(words, step.with));
}

bool counts_seconds(const PhaseEvent& phase) {
    return phase.name == "rollouts";
}

QString phase_text(const PhaseEvent& phase) {
    const QString name = progress_words({phase.name});
    if (phase.total <= 1) return name;
    const auto shown = [&](int64_t part) {
        return counts_seconds(phase) ? show::duration(double(part)) : show::count(part);
    };
    //: %1 is what a run does now, %2 how much of it is done, or for how long it waits; %3 the whole, or the
    //: longest time
    return QCoreApplication::translate("Progress", "%1, %2 of %3")
        .arg(name, shown(phase.done), shown(phase.total));
}

}  // namespace ringmaster
