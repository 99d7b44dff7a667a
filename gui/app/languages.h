/// Lists the languages of the app: English, and those in translations/.
#pragma once

#include <QString>
#include <vector>

namespace ringmaster {

struct Language {
    QString code;  ///< such as "en", "ja", "zh_CN"
    QString name;  ///< name in the language itself
};

const std::vector<Language>& languages_known();

/// Loads the translations and sets the default QLocale. An empty code means the system's language, or English
/// if that is unknown.
void use_language(const QString& code);
QString language_now();

}  // namespace ringmaster
