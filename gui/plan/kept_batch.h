/// Remembers the global batch that "Keep" restores: that of the text when it was opened, before any change.
#pragma once

#include <optional>

#include "engine/plan/plan.h"

namespace ringmaster {

class KeptBatch {
  public:
    void forget() { m_opened.reset(); }  ///< call it when another text is opened

    /// Remembers micro × accumulation and the context parallel size of the first plan after forget(). In
    /// every plan, replaces the batch "without context parallelism" by the batch to keep, or by the plan's
    /// batch if that is impossible; also in the note about it.
    void applyTo(Plan& plan);

  private:
    struct Opened {
        int64_t rows = 1;  ///< micro × accumulation
        int context_parallel_size = 1;
    };
    std::optional<Opened> m_opened;
};

}  // namespace ringmaster
