/// Remembers the global batch of the text as it was opened, which the "Keep" button restores.
#pragma once

#include <optional>

#include "engine/plan/plan.h"

namespace ringmaster {

class KeptBatch {
  public:
    void forget() { m_opened.reset(); }  ///< call this when another text is opened

    /// Stores micro × accumulation and the context parallel size of the first plan after forget(). In every
    /// plan, sets the batch "without context parallelism" to the batch to keep, or to the plan's batch if
    /// that is impossible. Updates the note about it, or removes the note.
    void applyTo(Plan& plan);

  private:
    struct Opened {
        int64_t rows = 1;  ///< micro × accumulation
        int context_parallel_size = 1;
    };
    std::optional<Opened> m_opened;
};

}  // namespace ringmaster
