/// Distinguishes a refused login from a machine that cannot be reached at the moment.
#pragma once

#include "launcher/ssh/finding.h"

namespace ringmaster {

/// Returns true if the machine answered and refused the login. The same keys would be refused again, and some
/// machines lock an account that tries too often.
bool refuses_login(const NodeFinding& finding);

}  // namespace ringmaster
