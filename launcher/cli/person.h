/// Asks the user at this terminal for what a login to a machine needs.
#pragma once

#include <atomic>

#include "engine/error.h"
#include "launcher/base/progress.h"
#include "launcher/cli/interrupts.h"
#include "launcher/ssh/prompt.h"

namespace ringmaster {

/// Asks on the terminal if there is one (without echo for a password) and marks a server's text as the
/// server's. Trusts unknown host keys only if `trust_on_first_use` is set.
SshPerson person_at_terminal(bool trust_on_first_use);

/// Asks like person_at_terminal above; until `placing` is set, Ctrl-C and SIGTERM also cancel work on a node.
SshPerson person_at_terminal(bool trust_on_first_use, const Interrupts& interrupts,
                             const std::atomic<bool>& placing);

/// Runs `work`. If the user cancelled its connections, throws Cancelled instead of the resulting Error.
template <class Work>
auto unless_interrupted(const Interrupts& interrupts, const Work& work) {
    try {
        return work();
    } catch (const Error&) {
        if (interrupts.wants_end()) throw Cancelled();
        throw;
    }
}

}  // namespace ringmaster
