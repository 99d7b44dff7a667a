/// Asks yes-or-no questions and gives the answers to work on another thread, such as whether to restart on
/// fewer nodes.
#pragma once

#include <QString>
#include <functional>

#include "launcher/anywhere/restart.h"

namespace ringmaster {

class Session;

struct YesNo {
    QString title, text, what_changes;  ///< what_changes has one change per line
    QString outcome;                    ///< a sentence below the changes
    QString yes, no;                    ///< button texts; Enter and Escape choose no
};

/// Returns a function that asks the user whether a run continues without the lost nodes; it stops waiting
/// when `given_up` returns true. Make it on the window's thread; call it on others.
AgreeToShrink agreeIn(const Session& session, std::function<bool()> given_up);

}  // namespace ringmaster
