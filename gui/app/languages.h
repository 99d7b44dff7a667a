/// Lists the languages of the app: English, and those in translations/.
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace ringmaster {

struct Language {
    QString code;  ///< such as "en", "ja", "zh_CN"
    QString name;  ///< name in the language itself
    /// Font families made for the language, best first; empty if the system's font family suits the language.
    QStringList families = {};
};

const std::vector<Language>& languages_known();

/// Loads the translations, and sets the default QLocale and the application's font. An empty code means the
/// system's language, or English if that is unknown.
void use_language(const QString& code);
QString language_now();

}  // namespace ringmaster
