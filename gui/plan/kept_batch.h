/// The global batch that "Keep" returns to: that of the text as it was opened, whatever was applied since.
#pragma once

#include <optional>

#include "engine/plan/plan.h"

namespace ringmaster {

class KeptBatch {
  public:
    void forget() { m_rows_of_rank.reset(); }  ///< Another text is opened.

    /// Remembers micro × accumulation of the first plan after forget(). In every plan, replaces what "without
    /// context parallelism" means by the batch to keep, in the batch and in the note about it.
    void applyTo(Plan& plan);

  private:
    std::optional<int64_t> m_rows_of_rank;
};

}  // namespace ringmaster
