/// Recognises the cause of a failure in messages of libraries and the kernel, which have no code for it. No
/// other code depends on the words of these messages, and none depends on the words of our own messages.
#pragma once

#include <string_view>

namespace ringmaster {

/// Returns one of namespace cause (engine/error.h), from the text of an exception of LibTorch, Gloo, c10d or
/// NCCL, or from the log of a rank that died without an error event. Returns an empty text if none is known.
std::string_view cause_in(std::string_view text);

}  // namespace ringmaster
