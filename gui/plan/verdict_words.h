/// Describes a plan in words: its verdict, the reason, and what to do next.
#pragma once

#include <QString>

#include "engine/plan/plan.h"
#include "engine/plan/resolve/advise.h"
#include "gui/look/card.h"

namespace ringmaster {

struct VerdictWords {
    Tone tone = Tone::Plain;
    QString verdict, why, next;
};

/// `machine_known` is false until this machine's facts are read.
VerdictWords verdict_words(const Plan& plan, bool machine_known);

const RankMemory* fullest_rank(const Plan& plan);  ///< null if the memory is not known

/// Returns text such as "8 GPUs" or "2 CPU ranks".
QString ranks_words(const Plan& plan);
/// Returns what an alternative changes and gains.
QString gains_words(const Alternative& plan, const Plan& present);

}  // namespace ringmaster
