// Replaces every text that is made from a code by that code, in a test program that is started with the
// variable RINGMASTER_BARE_TEXTS.
#include "engine/bare_texts.h"

#include <cstdlib>

namespace ringmaster {
namespace {

[[maybe_unused]] const bool is_asked = bare_texts = std::getenv("RINGMASTER_BARE_TEXTS") != nullptr;

}  // namespace
}  // namespace ringmaster
