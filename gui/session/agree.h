/// A question of yes or no that work on another thread waits for, and the one that a restart on fewer nodes
/// asks.
#pragma once

#include <QString>
#include <functional>

#include "launcher/anywhere/restart.h"

namespace ringmaster {

class Session;

struct YesNo {
    QString title, text, what_changes;  ///< the last one a line for each
    QString yes, no;                    ///< on the buttons; no is what Enter and Escape say
};

/// Asks the person whether a run goes on without the nodes that are lost; nobody waits for the answer any
/// more once `given_up` says so. To be made on the window's thread, called on others.
AgreeToShrink agreeIn(const Session& session, std::function<bool()> given_up);

}  // namespace ringmaster
