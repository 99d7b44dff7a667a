#include "launcher/ssh/login_refusals.h"

#include <algorithm>
#include <array>

namespace ringmaster {

bool refuses_login(const NodeFinding& finding) {
    constexpr std::array<std::string_view, 7> kRefusals = {
        "login-refused",  "login-without-key", "wrong-password", "wrong-answer",
        "nobody-answers", "too-many-keys",     "too-many-tries"};
    return std::find(kRefusals.begin(), kRefusals.end(), finding.code) != kRefusals.end();
}

}  // namespace ringmaster
