#include "gui/session/finding_words.h"

#include <QLocale>

#include "engine/config/finding_record.h"
#include "gui/session/app_ways.h"

namespace ringmaster {

std::string finding_language() {
    const QString whole = QLocale().name();
    for (const std::string& known : finding_languages()) {
        const QString name = QString::fromStdString(known);
        if (whole == name || whole.section(u'_', 0, 0) == name.section(u'_', 0, 0)) return known;
    }
    return "en";
}

QString message_of(const Diagnostic& finding) {
    return QString::fromStdString(message_in(finding_language(), finding));
}

QString hint_of(const Diagnostic& finding) {
    return way_in_app(QString::fromStdString(hint_in(finding_language(), finding)));
}

QString effect_of(const Diagnostic& finding, const Fix& fix) {
    return QString::fromStdString(effect_in(finding_language(), finding, fix));
}

QString message_of(const Error& error) {
    const std::string language = finding_language();
    const FindingTexts* texts = texts_of(error.code, language);
    const QString words = QString::fromUtf8(error.what());
    if (language == "en" || texts == nullptr) return words;
    return QString::fromStdString(texts->title) + QLatin1String(": ") + words;
}

QString hint_of(const Error& error) {
    return way_in_app(QString::fromStdString(error.hint));
}

QString place_of(const Error& error) {
    return error.where.starts_with("--") ? QString() : QString::fromStdString(error.where);
}

QString text_of(const Error& error) {
    const QString where = place_of(error), hint = hint_of(error);
    return (where.isEmpty() ? QString() : where + QLatin1String(": ")) + message_of(error) +
           (hint.isEmpty() ? QString() : QLatin1String("\n  ") + hint);
}

}  // namespace ringmaster
