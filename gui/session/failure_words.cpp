#include "gui/session/failure_words.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

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

/// Returns a text of launcher/ssh/finding.h in the app's language.
QString in_app_language(const char* text) {
    return *text == '\0' ? QString() : QCoreApplication::translate("NodeFindings", text);
}

QString filled(const QString& text, const std::vector<std::string>& with) {
    return QString::fromStdString(filled_in(text.toStdString(), with));
}

/// Returns true if the finding's text names the machine, whose host may be "USER@NAME:PORT".
bool names(const NodeFinding& finding, const QString& host) {
    const std::string name = host.section(u'@', -1).section(u':', 0, 0).toStdString();
    return std::find(finding.with.begin(), finding.with.end(), name) != finding.with.end();
}

/// Returns why a machine cannot be used, and what to do next.
std::pair<QString, QString> machineWords(const MachineFailure& machine) {
    const bool known = finding_text(machine.finding.code) != nullptr;
    if (known) {
        const QString words = findingWords(machine.finding);
        return {names(machine.finding, machine.host) ? words : show::said_of(machine.host, words),
                findingNext(machine.finding)};
    }
    return {show::said_of(machine.host, note_of(machine.what.toStdString())),
            note_of(machine.next.toStdString())};
}

QString findingLine(const Diagnostic& said, const QString& file) {
    const QString message = message_of(said), hint = hint_of(said);
    QString line = said.line > 0 ? Failures::tr("line %1: ").arg(said.line) + message : message;
    if (!file.isEmpty() && !message.contains(file)) line = show::said_of(file, line);
    return show::begun(show::advised(line, hint));
}

/// Returns what failed, as the failure or its findings describe it, and what to do next.
std::pair<QString, QString> wordsOf(const JobFailure& failure) {
    if (failure.machines.size() == 1) {
        const auto [what, next] = machineWords(failure.machines.front());
        return {what, next.isEmpty() ? failure.hint : next};
    }
    QStringList lines;
    for (const MachineFailure& machine : failure.machines) {
        const auto [what, next] = machineWords(machine);
        lines << show::begun(show::advised(what, next));
    }
    if (!lines.isEmpty()) return {lines.join(u'\n'), failure.hint};
    for (const Diagnostic& said : failure.diagnostics)
        if (said.severity == Severity::Error) lines << findingLine(said, failure.where);
    if (lines.size() == 1) return {lines.front(), failure.hint};
    if (!lines.isEmpty()) return {u"\u2022 "_s + lines.join(u"\n\u2022 "_s), failure.hint};
    return {failure.where.isEmpty() ? failure.what : show::said_of(failure.where, failure.what),
            failure.hint};
}

}  // namespace

QString findingNext(const NodeFinding& finding) {
    const FindingText* known = finding_text(finding.code);
    if (known == nullptr) return {};
    const QString way = app_way(finding.code);
    return filled(way.isEmpty() ? in_app_language(known->next) : way, finding.with);
}

QString findingWords(const NodeFinding& finding) {
    const FindingText* known = finding_text(finding.code);
    if (known == nullptr) return {};
    QStringList parts;
    for (const NodeFinding& part : finding.parts) parts << findingWords(part);
    return filled(in_app_language(known->message), finding.with) + show::listed(parts);
}

QString reportWords(const NodeReport& report) {
    const bool known = finding_text(report.finding.code) != nullptr;
    return show::said_of(QString::fromStdString(report.host),
                         known ? findingWords(report.finding) : note_of(report.message));
}

QString troubleWords(const NodeTrouble& trouble) {
    if (trouble.empty()) return {};
    const bool known = finding_text(trouble.finding.code) != nullptr;
    return show::said_of(QString::fromStdString(trouble.host),
                         known ? findingWords(trouble.finding) : error_of(trouble.code, trouble.words));
}

std::pair<QString, QString> failureWords(const JobFailure& failure) {
    const auto [what, next] = wordsOf(failure);
    return {show::begun(what), next};
}

}  // namespace ringmaster
