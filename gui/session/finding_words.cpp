#include "gui/session/finding_words.h"

#include <QLocale>
#include <algorithm>

#include "engine/config/finding_record.h"
#include "engine/config/keys.h"
#include "gui/look/numbers.h"
#include "gui/session/failure_words.h"
#include "launcher/nodes/fleet.h"

namespace ringmaster {

std::string finding_language() {
    const QString whole = QLocale().name();
    for (const std::string& known : finding_languages()) {
        const QString name = QString::fromStdString(known);
        if (whole == name || whole.section(u'_', 0, 0) == name.section(u'_', 0, 0)) return known;
    }
    return "en";
}

namespace {

constexpr const char* kKeys =
    "KEY-UNSUPPORTED";  ///< code of the record with the phrases of the table of keys

/// Puts the code before the words if this version has no record of the code.
QString with_code(const std::string& code, const QString& words) {
    const bool is_known = code.empty() || finding_records().contains(code);
    return is_known ? words : QString::fromStdString(code) + QLatin1String(": ") + words;
}

/// Returns `words`, which come from the record. If `words` equals `own`, the finding's English text, the
/// record has no sentence for the finding. Then returns the translation of `own`, as for an Error that became
/// a finding.
QString translated_unless_recorded(const std::string& code, const std::string& words,
                                   const std::string& own) {
    return QString::fromStdString(words == own ? error_text_in(finding_language(), code, own) : words);
}

const NodeFinding* node_finding_of(const Error& error) {
    const auto* node = dynamic_cast<const NodeError*>(&error);
    return node != nullptr && finding_text(node->finding.code) != nullptr ? &node->finding : nullptr;
}

}  // namespace

QString message_of(const Diagnostic& finding) {
    const std::string words = message_in(finding_language(), finding);
    return with_code(finding.code, translated_unless_recorded(finding.code, words, finding.message));
}

QString hint_of(const Diagnostic& finding) {
    return translated_unless_recorded(finding.code, app_hint_in(finding_language(), finding), finding.hint);
}

QString effect_of(const Diagnostic& finding, const Fix& fix) {
    return QString::fromStdString(effect_in(finding_language(), finding, fix));
}

QString message_of(const Error& error) {
    if (const NodeFinding* node = node_finding_of(error)) return findingWords(*node);
    if (const auto* nodes = dynamic_cast<const NodesError*>(&error)) {
        QStringList lines;
        for (const NodeReport& report : nodes->reports) lines << reportWords(report);
        return lines.join(u'\n');
    }
    return error_of(error.code, error.what());
}

QString error_of(const std::string& code, const std::string& text) {
    const std::string language = finding_language();
    const std::string words = error_text_in(language, code, text);
    const FindingTexts* texts = texts_of(code, language);
    const bool is_ours = words != text || language == "en" || texts == nullptr;
    return with_code(
        code, is_ours ? QString::fromStdString(words)
                      : show::said_of(QString::fromStdString(texts->title), QString::fromStdString(words)));
}

QString note_of(const std::string& text) {
    constexpr const char* kRecords[] = {
        "SLURM-ANSWER",   "NODE-AGENT",    "NODE-TRANSFER", "NODE-UNREACHABLE", "RUN-ELSEWHERE",
        "RUN-CHECKPOINT", "DATA-TOKENIZE", "SETUP-PYTHON",  "TRACKER-SETUP",    "PROGRAM-FAILED"};
    const std::string language = finding_language();
    QStringList lines;
    for (const QString& one : QString::fromStdString(text).split(u'\n')) {
        const std::string line = one.trimmed().toStdString();
        std::string words = line;
        for (const char* record : kRecords)
            if (words == line) words = error_text_in(language, record, line);
        lines << (words == line ? one : QString::fromStdString(words));
    }
    return lines.join(u'\n');
}

QString hint_of(const Error& error) {
    if (const NodeFinding* node = node_finding_of(error)) return findingNext(*node);
    return QString::fromStdString(error_text_in(finding_language(), error.code, error.hint));
}

QString reason_of_key(const KeyVerdicts::Reason& reason) {
    const std::string language = finding_language();
    const size_t past = std::min(reason.why.rfind(" (axolotl "), reason.why.size());
    std::string words = error_text_in(language, kKeys, reason.why.substr(0, past));
    if (past < reason.why.size()) {
        const std::string inside = reason.why.substr(past + 2, reason.why.size() - past - 3);
        words += " (" + error_text_in(language, kKeys, inside) + ")";
    }
    return QString::fromStdString(words);
}

QString refusal_of_key(const KeyVerdicts::Reason& reason, const Diagnostics& diagnostics) {
    const auto said = std::find_if(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& one) {
        return one.severity == Severity::Error && one.key == reason.key;
    });
    if (said != diagnostics.end()) return message_of(*said);
    const KeyRule* rule = find_key(reason.key);
    if (rule == nullptr || rule->fate != Fate::Unsupported || finding_language() == "en")
        return reason_of_key(reason);
    return message_of(finding(Severity::Error, Form(kKeys, "key"), reason.key, 0,
                              {{"value", ""}, {"why", std::string(rule->why)}, {"advice", ""}}));
}

QString place_of(const Error& error) {
    if (error.where.starts_with("--")) return {};
    return QString::fromStdString(error_text_in(finding_language(), error.code, error.where));
}

QString text_of(const Error& error) {
    const QString where = place_of(error), hint = hint_of(error);
    return (where.isEmpty() ? QString() : where + QLatin1String(": ")) + message_of(error) +
           (hint.isEmpty() ? QString() : QLatin1String("\n  ") + hint);
}

}  // namespace ringmaster
