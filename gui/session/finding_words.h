/// Returns a finding's sentences in the app's language, from the records of resources/findings.
#pragma once

#include <QString>
#include <string>

#include "engine/config/diagnostic.h"
#include "engine/error.h"

namespace ringmaster {

/// Returns the language of the default QLocale if the records have it, otherwise "en".
std::string finding_language();

QString message_of(const Diagnostic& finding);
QString hint_of(const Diagnostic& finding);  ///< in the app's words, as hint_of(Error)
QString effect_of(const Diagnostic& finding, const Fix& fix);

/// Returns an error's message. It is English; in another language, the translated title of its code comes
/// first.
QString message_of(const Error& error);

/// Returns the hint in the app's words (app_ways.h), and the place; an option of the command line is no place
/// in the app.
QString hint_of(const Error& error);
QString place_of(const Error& error);

/// Returns the place, message_of(error) and the hint, as Error::text() does.
QString text_of(const Error& error);

}  // namespace ringmaster
