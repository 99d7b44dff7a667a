/// A plan in words: verdict, why, what next.
#pragma once

#include <QString>

#include "engine/plan/advise.h"
#include "engine/plan/plan.h"
#include "gui/look/card.h"

namespace ringmaster {

struct VerdictWords {
    Tone tone = Tone::Plain;
    QString verdict, why, next;
};

/// `machine_known`: false while this machine is still being asked.
VerdictWords verdict_words(const Plan& plan, bool machine_known);

const RankMemory* fullest_rank(const Plan& plan);  ///< nullptr where the memory is not known

/// "8 GPUs", "2 CPU ranks"
QString ranks_words(const Plan& plan);
/// "dp_shard 2 × ring 4 · ZeRO 3", "data parallel 8" where every rank holds all states, "no splitting"
QString mesh_words(const Mesh& mesh, int zero_stage);
/// What an alternative changes and gains.
QString gains_words(const Alternative& plan, const Plan& present);

}  // namespace ringmaster
