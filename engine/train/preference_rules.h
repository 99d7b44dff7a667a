/// Computes the losses of training on preferences from sums of label log-probabilities, one number per
/// document, and their derivatives: the weights of the documents' labels in the backward pass. The arithmetic
/// is in double and gives the same results on every rank. The formulas are those of TRL 1.16; means over
/// labels or rows are over the step's global batch, whereas TRL takes them over a device's rows.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/config/preference.h"
#include "engine/events/event.h"

namespace ringmaster {

/// Holds everything in one document that a loss depends on.
struct DocumentSums {
    double completion = 0;  ///< Σ log p of the completion's labels
    double prompt = 0;      ///< Σ log p of the prompt's labels, if prompts are trained
    int64_t completion_labels = 0, prompt_labels = 0;
    double reference = 0;  ///< Σ log p of the completion under the reference
    bool desirable = false;
};

/// Holds a step's loss, and its derivatives with respect to each document's sums.
struct PreferenceLoss {
    struct Slopes {
        double completion = 0, prompt = 0;
    };
    double loss = 0;
    std::vector<Slopes> slopes;
    LossFigures figures;
};

/// Returns the loss of documents in the step's order: chosen and rejected in turn, or KTO's rows. `kl` is
/// KTO's mean of log p − reference over mismatched rows; it has no derivative.
PreferenceLoss preference_loss(const Preference& preference, const std::vector<DocumentSums>& documents,
                               double kl = 0);

}  // namespace ringmaster
