#include "gui/session/reason_words.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/filled_in.h"
#include "gui/session/app_ways.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

namespace {

/// Returns the text of a part in the app's language. If the part is a next step, uses the app's words for it.
QString text_of(const ReasonPart& part) {
    const QString way = app_way(part.code);
    return way.isEmpty() ? QCoreApplication::translate("RunReasons", reason_text(part.code)) : u'\n' + way;
}

/// Returns true if the part quotes an Error. The run's code is then the Error's code.
bool quotes_error(const Reason& why, size_t at) {
    return why[at].code == "error" || (why[at].code == "text" && at == 0);
}

}  // namespace

QString reason_of(const Reason& why, const std::string& reason, const std::string& code) {
    const bool known = !why.empty() && std::all_of(why.begin(), why.end(), [](const ReasonPart& part) {
        return reason_text(part.code) != nullptr;
    });
    if (!known) return QString::fromStdString(reason);
    std::string words;
    for (size_t at = 0; at < why.size(); ++at) {
        std::vector<std::string> with = why[at].with;
        if (quotes_error(why, at) && !with.empty()) with[0] = error_of(code, with[0]).toStdString();
        words += filled_in(text_of(why[at]).toStdString(), with);
    }
    return QString::fromStdString(words);
}

QString reason_of(const RunState& state) {
    return reason_of(state.why, state.reason, state.state == RunPhase::Failed ? state.code : std::string());
}

}  // namespace ringmaster
