#include "engine/plan/attention_kernels.h"

#include <algorithm>
#include <set>

#include "engine/layout/attention_schedule.h"
#include "engine/layout/deterministic.h"
#include "engine/layout/layout.h"
#include "engine/translatable.h"

namespace ringmaster {

namespace {

constexpr int64_t kCudnnMostHeadDim = 128;

// clang-format off
constexpr const char* kBlocks = QT_TRANSLATE_NOOP("AttentionKernels", "Ringmaster's block kernel");
constexpr const char* kEfficient = QT_TRANSLATE_NOOP("AttentionKernels", "LibTorch's memory-efficient kernel");
constexpr const char* kScores = QT_TRANSLATE_NOOP("AttentionKernels", "LibTorch's operations, in blocks of scores");
constexpr const char* kDense = QT_TRANSLATE_NOOP("AttentionKernels", "FlashAttention-2, dense");
constexpr const char* kVarlen = QT_TRANSLATE_NOOP("AttentionKernels", "FlashAttention-2, varlen");
constexpr const char* kBackward = QT_TRANSLATE_NOOP("AttentionKernels", "FlashAttention-2, backward in a fixed order");
constexpr const char* kFaster = QT_TRANSLATE_NOOP("AttentionKernels", "cuDNN or FlashAttention-2, dense");

constexpr const char* kForAll = QT_TRANSLATE_NOOP("AttentionKernels", "all of the attention");
constexpr const char* kForWhole = QT_TRANSLATE_NOOP("AttentionKernels", "rows that are one document without padding");
constexpr const char* kForCuts = QT_TRANSLATE_NOOP("AttentionKernels", "rows of several documents or with padding");
constexpr const char* kForCutsAndPieces = QT_TRANSLATE_NOOP("AttentionKernels", "rows of several documents or with padding, and hops that see several stretches of keys");
constexpr const char* kForWideHeads = QT_TRANSLATE_NOOP("AttentionKernels", "layers with heads wider than 256");
constexpr const char* kForGradients = QT_TRANSLATE_NOOP("AttentionKernels", "gradients");

constexpr const char* kOnCpu = QT_TRANSLATE_NOOP("AttentionKernels", "the ranks compute on the CPU");
constexpr const char* kOnCpuMore = QT_TRANSLATE_NOOP("AttentionKernels", "bfloat16 by the processor's own products if it has them");
constexpr const char* kMeasured = QT_TRANSLATE_NOOP("AttentionKernels", "the faster of the two, by a measurement at the start");
constexpr const char* kMeasuredMore = QT_TRANSLATE_NOOP("AttentionKernels", "on the run's own shapes; both compute the same");
constexpr const char* kSegments = QT_TRANSLATE_NOOP("AttentionKernels", "keeps documents apart");
constexpr const char* kSegmentsMore = QT_TRANSLATE_NOOP("AttentionKernels", "documents and padding are segments of one launch");
constexpr const char* kOrdered = QT_TRANSLATE_NOOP("AttentionKernels", "a repeated run gives the same bits");
constexpr const char* kOrderedMore = QT_TRANSLATE_NOOP("AttentionKernels", "heads and long documents get launches of their own where that fills the GPU; RINGMASTER_CUDA_DETERMINISTIC=1 asks for it");

constexpr const char* kOfFloat32 = QT_TRANSLATE_NOOP("AttentionKernels", "float32: FlashAttention-2 and cuDNN take 16 bits alone");
constexpr const char* kOfWideHeads = QT_TRANSLATE_NOOP("AttentionKernels", "FlashAttention-2 takes heads up to 256 wide");
constexpr const char* kOfCap = QT_TRANSLATE_NOOP("AttentionKernels", "the model caps its attention scores");
constexpr const char* kOfCapMore = QT_TRANSLATE_NOOP("AttentionKernels", "FlashAttention-2, cuDNN and the memory-efficient kernel are faster, but cannot do that");
constexpr const char* kOfDocuments = QT_TRANSLATE_NOOP("AttentionKernels", "cuDNN is left out: rows hold several documents");
constexpr const char* kOfWindow = QT_TRANSLATE_NOOP("AttentionKernels", "cuDNN is left out: the model attends in a sliding window");
constexpr const char* kOfHeadDim = QT_TRANSLATE_NOOP("AttentionKernels", "cuDNN is left out: it takes head dimensions up to 128 that are multiples of 8");
// clang-format on

struct Shapes {
    bool dense = false, varlen = false;
};

/// These constants limit the search. In a longer ring, the hops of the first ranks show all kinds of
/// launches. A long row with a window has about 2 · tokens ÷ window slices; the first ones show all kinds.
constexpr int kMostRanks = 16;
constexpr int64_t kMostWindows = 1000;

/// Adds the kinds of launches for a row that is one document, in layers with `window`; 0: no window.
void add_shapes(Shapes& shapes, const Plan& plan, int64_t window) {
    const RingAttnFunc func = plan.context_parallel.layout;
    const int ring = std::min(plan.mesh.ring, kMostRanks);
    AttentionMask mask;
    mask.window = window;
    int64_t tokens = plan.sequence.padded_length / plan.mesh.ring * ring;
    if (mask.window > 0) tokens = std::min(tokens, kMostWindows * mask.window);
    tokens = padded_length(func, tokens, ring, 1);
    if (mask.window >= tokens) mask.window = 0;
    mask.documents = {tokens};
    const Layout layout = make_layout(func, tokens, ring, 1, mask);
    for (int rank = 0; rank < ring; ++rank) {
        const AttentionSchedule schedule = func == RingAttnFunc::VarlenLlama3
                                               ? make_gather_schedule(layout.ranks, rank, mask, 1)
                                               : make_ring_schedule(layout.ranks, rank, mask);
        for (const Stage& stage : schedule.stages) {
            for (const FlashCall& call : flash_calls(stage.slices)) {
                for (const FlashPacking& packing : pack(call, 1))
                    (packing.dense ? shapes.dense : shapes.varlen) = true;
            }
        }
    }
}

Shapes shapes_of_whole_rows(const Plan& plan) {
    std::set<int64_t> windows;
    for (const LayerKind& kind : plan.model->layer_kinds()) windows.insert(kind.window.value_or(0));
    Shapes shapes;
    for (const int64_t window : windows) add_shapes(shapes, plan, window);
    return shapes;
}

}  // namespace

AttentionFamily attention_family(Device device, bool float32, int64_t head_dim, bool caps_scores) {
    if (device == Device::Cpu) return AttentionFamily::OwnBlocks;
    if (caps_scores) return AttentionFamily::ScoreBlocks;
    return float32 || head_dim > kFlashMostHeadDim ? AttentionFamily::Efficient
                                                   : AttentionFamily::FlashAttention2;
}

AttentionFamily attention_family(const Plan& plan) {
    return attention_family(plan.device, plan.config.precision == Precision::Float32,
                            plan.model ? plan.model->head_dim : 0,
                            plan.model && plan.model->score_softcap != 0);
}

namespace {

bool is_float32(const Plan& plan) {
    return plan.config.precision == Precision::Float32;
}

}  // namespace

/// Rejects causal rectangles: cuDNN aligns triangles at the upper left, FlashAttention-2 at the lower right.
bool cudnn_takes(const DenseCall& call) {
    const bool square = call.window == kCausalWindow && call.queries == call.keys;
    return (square || call.window == FlashWindow{}) && call.queries > 1 && call.keys > 1 &&
           call.head_dim <= kCudnnMostHeadDim && call.head_dim % 8 == 0;
}

const char* why_not_cudnn(const Plan& plan) {
    switch (attention_family(plan)) {
        case AttentionFamily::OwnBlocks:
            return kOnCpu;
        case AttentionFamily::Efficient:
            return is_float32(plan) ? kOfFloat32 : kOfHeadDim;
        case AttentionFamily::ScoreBlocks:
            return kOfCap;
        case AttentionFamily::FlashAttention2:
            break;
    }
    if (!plan.model) return kOfHeadDim;
    if (plan.config.sample_packing) return kOfDocuments;
    if (plan.model->sliding_window) return kOfWindow;
    if (!cudnn_takes(
            {2, 2, std::max(plan.model->head_dim, plan.model->global_heads.head_dim), kCausalWindow}))
        return kOfHeadDim;
    return nullptr;
}

std::vector<AttentionUse> attention_kernels(const Plan& plan) {
    const RingAttnFunc func = plan.context_parallel.layout;
    if (!plan.model || !plan.ok() || plan.sequence.padded_length < plan.mesh.ring ||
        func == RingAttnFunc::Default || func == RingAttnFunc::Auto)
        return {};
    switch (attention_family(plan)) {
        case AttentionFamily::OwnBlocks:
            return {{kBlocks, kForAll, kOnCpu, kOnCpuMore}};
        case AttentionFamily::Efficient:
            return {{kEfficient, kForAll, is_float32(plan) ? kOfFloat32 : kOfWideHeads, ""}};
        case AttentionFamily::ScoreBlocks:
            return {{kScores, kForAll, kOfCap, kOfCapMore}};
        case AttentionFamily::FlashAttention2:
            break;
    }
    const Shapes shapes = shapes_of_whole_rows(plan);
    const char* without_cudnn = why_not_cudnn(plan);
    std::vector<AttentionUse> uses;
    if (shapes.dense && without_cudnn == nullptr) {
        uses.push_back({kFaster, kForWhole, kMeasured, kMeasuredMore});
    } else if (shapes.dense) {
        uses.push_back({kDense, kForWhole, without_cudnn, ""});
    }
    uses.push_back({kVarlen, shapes.varlen ? kForCutsAndPieces : kForCuts, kSegments, kSegmentsMore});
    if (plan.model->global_heads.head_dim > kFlashMostHeadDim)
        uses.push_back({kEfficient, kForWideHeads, kOfWideHeads, ""});
    if (cuda_is_deterministic()) uses.push_back({kBackward, kForGradients, kOrdered, kOrderedMore});
    return uses;
}

}  // namespace ringmaster
