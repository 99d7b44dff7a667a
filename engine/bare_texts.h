/// Lets tests prove that no code reads sentences.
#pragma once

namespace ringmaster {

/// True only in test programs that are told so (tests/support/bare_texts.cpp): every text that is made from a
/// code is then the code itself.
inline bool bare_texts = false;

}  // namespace ringmaster
