/// Simulates the tensors of one micro-batch, allocated and freed in the order of the engine's code: the last
/// layer's forward, the head and that layer's backward, next to the tensors that all other layers keep. The
/// peak is in this part; with sharded states it may be in the layer before, whose backward reduces another
/// layer's gradients; or at the embedding's gradient, when all else is freed. An evaluation keeps nothing of
/// a layer for the next, but its micro-batches may have more rows.
///
/// Walks the layer's own blocks (engine/blocks/layer.h); the head follows engine/model/decoder_head.cpp. The
/// letters are those of memory.h.
#pragma once

#include "engine/plan/memory/heap.h"
#include "engine/plan/memory/memory.h"

namespace ringmaster {

/// Traces one micro-batch, from the states to its end, or one of an evaluation if that takes more. Returns
/// the heap with its peaks.
Heap trace_step(const MemoryInputs& in);

}  // namespace ringmaster
