/// Simulates the tensors of one micro-batch, allocated and freed in the order of the engine's code: the last
/// layer's forward, the head and that layer's backward, next to the tensors that all other layers keep. The
/// peak lies in this part, with two exceptions. With sharded states it may lie in the layer before, while its
/// backward pass also reduces another layer's gradients. It may also lie at the embedding's gradient, after
/// everything else is freed. An evaluation keeps nothing of a layer for the next layer, but its micro-batches
/// may have more rows.
///
/// Runs the same blocks as the engine (engine/blocks/layer.h); the head follows
/// engine/model/decoder_head.cpp. The letters are those of memory.h.
#pragma once

#include "engine/plan/memory/heap.h"
#include "engine/plan/memory/memory.h"

namespace ringmaster {

/// Traces one micro-batch of training or of an evaluation, whichever takes more memory. Returns the heap with
/// its peaks.
Heap trace_step(const MemoryInputs& in);

}  // namespace ringmaster
