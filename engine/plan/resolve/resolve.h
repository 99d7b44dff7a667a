/// Declares the steps of make_plan in order. Each step fills its part of the plan and reports problems in
/// that part.
#pragma once

#include "engine/plan/findings.h"
#include "engine/plan/plan_request.h"

namespace ringmaster {

/// Resolves ranks, nodes and device: those requested, else the config's, else this machine's, else 2 CPU
/// ranks.
void resolve_topology(const PlanRequest& request, Plan& plan, Findings& findings);

/// Resolves the model's shape from its folder or hub id, and reports what the folder lacks.
void resolve_model(const PlanRequest& request, Plan& plan, Findings& findings);

/// Resolves the modules that the adapter, if any, is attached to, and reports its size.
void resolve_adapter(Plan& plan, Findings& findings);

/// Resolves mesh, context parallelism and layout. Returns false if the product of the sizes is not the number
/// of ranks, because nothing that depends on the mesh can then be checked.
bool resolve_mesh(Plan& plan, Findings& findings);

/// Divides experts among ranks if the file asks for it: the mesh's `expert`, and the ZeRO stage that it
/// needs.
void resolve_experts(Plan& plan, Findings& findings);

/// Resolves length, padded length and the largest shard.
void resolve_sequence(Plan& plan, Findings& findings);

/// Resolves rows and tokens per step, steps per epoch and total steps.
void resolve_batch(const PlanRequest& request, Plan& plan, Findings& findings);

/// Resolves whether answers share their prompts, and how much this saves in the prepared rows.
void resolve_sharing(const PlanRequest& request, Plan& plan, Findings& findings);

/// Compares the memory of every rank with its device's. Leaves the plan's memory null if the model is
/// unknown.
void resolve_memory(const PlanRequest& request, Plan& plan, Findings& findings);

/// Resolves the time of a step from measured, calibrated or assumed speeds. Leaves the time null if the model
/// is unknown.
void resolve_time(const PlanRequest& request, Plan& plan, Findings& findings);

}  // namespace ringmaster
