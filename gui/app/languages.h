/// The languages of the app: English, and what translations/ has.
#pragma once

#include <QString>
#include <vector>

namespace ringmaster {

struct Language {
    QString code;  ///< "en", "de", "zh_CN"
    QString name;  ///< in itself
};

const std::vector<Language>& languages_known();

/// Loads the translations and sets the default QLocale. Empty: the system's language where it is known, else
/// English.
void use_language(const QString& code);
QString language_now();

}  // namespace ringmaster
