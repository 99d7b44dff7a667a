/// Lets tests replace every message by its code, to prove that no code depends on the wording of a message.
#pragma once

namespace ringmaster {

/// True only in test programs that set it (tests/support/bare_texts.cpp). Every text that is made from a code
/// is then the code itself.
inline bool bare_texts = false;

}  // namespace ringmaster
