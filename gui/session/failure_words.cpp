#include "gui/session/failure_words.h"

#include <QCoreApplication>
#include <QStringList>

#include "engine/filled_in.h"
#include "gui/look/numbers.h"
#include "gui/session/app_ways.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct Failures {
    Q_DECLARE_TR_FUNCTIONS(Failures)
};

/// Returns a text of launcher/ssh/finding.h in the app's language, with its values filled in.
QString filledFinding(const char* text, const std::vector<std::string>& with) {
    if (*text == '\0') return {};
    const QString translated = QCoreApplication::translate("NodeFindings", text);
    return QString::fromStdString(filled_in(translated.toStdString(), with));
}

/// Returns what keeps a machine from being used, and what to do next.
std::pair<QString, QString> machineWords(const MachineFailure& machine) {
    const bool known = finding_text(machine.finding.code) != nullptr;
    const QString what = known ? findingWords(machine.finding) : machine.what;
    return {machine.host + u": "_s + what, known ? findingNext(machine.finding) : machine.next};
}

QString findingLine(const Diagnostic& said, const QString& file) {
    const QString message = message_of(said), hint = hint_of(said);
    QString line = said.line > 0 ? Failures::tr("line %1: ").arg(said.line) + message : message;
    if (!file.isEmpty() && !message.contains(file)) line.prepend(file + u": "_s);
    return show::sentences({line, hint});
}

}  // namespace

QString findingNext(const NodeFinding& finding) {
    const FindingText* known = finding_text(finding.code);
    return known == nullptr ? QString() : way_in_app(filledFinding(known->next, finding.with));
}

QString findingWords(const NodeFinding& finding) {
    const FindingText* known = finding_text(finding.code);
    if (known == nullptr) return {};
    QStringList parts;
    for (const NodeFinding& part : finding.parts) parts << findingWords(part);
    return filledFinding(known->message, finding.with) + parts.join(u", "_s);
}

std::pair<QString, QString> failureWords(const JobFailure& failure) {
    if (failure.machines.size() == 1) return machineWords(failure.machines.front());
    QStringList lines;
    for (const MachineFailure& machine : failure.machines) {
        const auto [what, next] = machineWords(machine);
        lines << show::sentences({what, next});
    }
    if (!lines.isEmpty()) return {lines.join(u'\n'), {}};
    for (const Diagnostic& said : failure.diagnostics)
        if (said.severity == Severity::Error) lines << findingLine(said, failure.where);
    if (lines.size() == 1) return {lines.front(), failure.hint};
    if (!lines.isEmpty()) return {u"\u2022 "_s + lines.join(u"\n\u2022 "_s), failure.hint};
    return {failure.where.isEmpty() ? failure.what : failure.where + u": "_s + failure.what, failure.hint};
}

}  // namespace ringmaster
