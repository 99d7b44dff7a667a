// Replaces every text that is made from a code by the code itself, in test programs that run with the
// environment variable RINGMASTER_BARE_TEXTS.
#include "engine/bare_texts.h"

#include <cstdlib>

namespace ringmaster {
namespace {

[[maybe_unused]] const bool is_asked = bare_texts = std::getenv("RINGMASTER_BARE_TEXTS") != nullptr;

}  // namespace
}  // namespace ringmaster
