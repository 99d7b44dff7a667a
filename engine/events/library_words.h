/// Recognises causes of a failure in what libraries and the kernel say, because they say it only in words.
/// Nothing else reads those words, and nothing reads our own.
#pragma once

#include <string_view>

namespace ringmaster {

/// Returns one of namespace cause (engine/error.h), from the text of an exception of LibTorch, Gloo, c10d or
/// NCCL, or from the log of a rank that died without an error event. Returns an empty text if none is known.
std::string_view cause_in(std::string_view text);

}  // namespace ringmaster
