/// The person at this terminal: what they are asked while logging in to a machine.
#pragma once

#include "launcher/ssh/prompt.h"

namespace ringmaster {

/// Asks on the terminal where there is one (a password is not shown); a server's text is shown as the
/// server's. Unknown host keys are trusted only where `trust_on_first_use`.
SshPerson person_at_terminal(bool trust_on_first_use);

}  // namespace ringmaster
