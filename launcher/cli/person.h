/// The person at this terminal: what they are asked while logging in to a machine.
#pragma once

#include <atomic>

#include "engine/error.h"
#include "launcher/cli/interrupts.h"
#include "launcher/progress.h"
#include "launcher/ssh/prompt.h"

namespace ringmaster {

/// Asks on the terminal where there is one (a password is not shown); a server's text is shown as the
/// server's. Unknown host keys are trusted only where `trust_on_first_use`.
SshPerson person_at_terminal(bool trust_on_first_use);

/// The same; Ctrl-C and SIGTERM end what is under way with a machine until `placing` is set.
SshPerson person_at_terminal(bool trust_on_first_use, const Interrupts& interrupts,
                             const std::atomic<bool>& placing);

/// `work`, whose connections such a person ended: Cancelled in place of the Error that came of it.
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
