#include "gui/session/finding_words.h"

#include <QLocale>

#include "engine/config/finding_record.h"

namespace ringmaster {

namespace {

/// That of the default QLocale, where the records have it.
std::string language() {
    const QString whole = QLocale().name();
    for (const std::string& known : finding_languages()) {
        const QString name = QString::fromStdString(known);
        if (whole == name || whole.section(u'_', 0, 0) == name.section(u'_', 0, 0)) return known;
    }
    return "en";
}

}  // namespace

QString message_of(const Diagnostic& finding) {
    return QString::fromStdString(message_in(language(), finding));
}

QString hint_of(const Diagnostic& finding) {
    return QString::fromStdString(hint_in(language(), finding));
}

QString effect_of(const Diagnostic& finding, const Fix& fix) {
    return QString::fromStdString(effect_in(language(), finding, fix));
}

}  // namespace ringmaster
