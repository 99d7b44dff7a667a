/// The steps of make_plan, in order: each fills its part of the plan and says what is wrong with it.
#pragma once

#include "engine/plan/findings.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Ranks, nodes and device: asked for, else the config's (accelerate), else what is seen, else 2 CPU ranks.
void resolve_topology(const PlanRequest& request, Plan& plan, Findings& findings);

/// The model's shape, from its folder or by its hub id; says what its folder lacks.
void resolve_model(const PlanRequest& request, Plan& plan, Findings& findings);

/// The model's modules that the adapter goes beside, if there is one; says its size.
void resolve_adapter(Plan& plan, Findings& findings);

/// Mesh, context parallelism and its layout. False where the sizes do not multiply to ranks: nothing that
/// depends on the mesh can be said then.
bool resolve_mesh(Plan& plan, Findings& findings);

/// Length, padded length and the largest shard.
void resolve_sequence(Plan& plan, Findings& findings);

/// Rows a step, tokens a step, steps an epoch, steps in all.
void resolve_batch(const PlanRequest& request, Plan& plan, Findings& findings);

/// Of a node: what the request says, else this machine's.
int cores_of(const PlanRequest& request);

/// Memory of every rank against its device; null where the model is unknown.
void resolve_memory(const PlanRequest& request, Plan& plan, Findings& findings);

/// Time of a step from assumed figures; null where the model is unknown.
void resolve_time(const PlanRequest& request, Plan& plan, Findings& findings);

}  // namespace ringmaster
