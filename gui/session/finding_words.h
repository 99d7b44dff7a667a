/// Returns a finding's sentences in the app's language, from the records of resources/findings.
#pragma once

#include <QString>
#include <string>

#include "engine/config/diagnostic.h"
#include "engine/config/read_config.h"
#include "engine/error.h"

namespace ringmaster {

/// Returns the language of the default QLocale if the records have it, otherwise "en".
std::string finding_language();

/// Returns the finding's sentence. If there is no record, because another version wrote the finding, returns
/// the finding's code and text unchanged.
QString message_of(const Diagnostic& finding);
QString hint_of(const Diagnostic& finding);  ///< in the app's words
QString effect_of(const Diagnostic& finding, const Fix& fix);

/// Returns an error's message, translated with the phrases in its code's record. Text without a translation,
/// such as another program's, stays as it is; in languages other than English the code's title precedes it.
QString message_of(const Error& error);
/// Returns the same for an error that is kept as text, such as the end of a run.
QString error_of(const std::string& code, const std::string& text);

/// Returns a note or warning without a code, in the app's language. Each line is translated by the phrases of
/// the records that hold such notes.
QString note_of(const std::string& text);

/// reason_of_key() returns why a key of the file has no effect here. refusal_of_key() returns why a key is
/// not supported: the message of the key's error, if `diagnostics` has one.
QString reason_of_key(const KeyVerdicts::Reason& reason);
QString refusal_of_key(const KeyVerdicts::Reason& reason, const Diagnostics& diagnostics);

/// hint_of() returns what to do next, in the app's words. place_of() returns where the fault is; empty if it
/// is in an option of the command line.
QString hint_of(const Error& error);
QString place_of(const Error& error);

/// Returns the place, message_of(error) and the hint, as Error::text() does.
QString text_of(const Error& error);

}  // namespace ringmaster
