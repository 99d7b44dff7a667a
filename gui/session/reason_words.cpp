#include "gui/session/reason_words.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/config/finding_record.h"
#include "engine/filled_in.h"
#include "gui/session/app_ways.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

namespace {

/// Returns true for the parts that hold the words of an Error, whose code is the run's.
bool quotes_error(const Reason& why, size_t at) {
    return why[at].code == "error" || (why[at].code == "text" && at == 0);
}

}  // namespace

QString reason_of(const Reason& why, const std::string& reason, const std::string& code) {
    const bool known = !why.empty() && std::all_of(why.begin(), why.end(), [](const ReasonPart& part) {
        return reason_text(part.code) != nullptr;
    });
    if (!known) return QString::fromStdString(reason);
    const std::string language = finding_language();
    const FindingTexts* titles = language == "en" || code.empty() ? nullptr : texts_of(code, language);
    std::string words;
    for (size_t at = 0; at < why.size(); ++at) {
        QString text = QCoreApplication::translate("RunReasons", reason_text(why[at].code));
        if (text.startsWith(u'\n')) text = u'\n' + way_in_app(text.mid(1));
        std::vector<std::string> with = why[at].with;
        if (titles != nullptr && quotes_error(why, at) && !with.empty())
            with[0] = titles->title + ": " + with[0];
        words += filled_in(text.toStdString(), with);
    }
    return QString::fromStdString(words);
}

QString reason_of(const RunState& state) {
    return reason_of(state.why, state.reason, state.state == RunPhase::Failed ? state.code : std::string());
}

}  // namespace ringmaster
