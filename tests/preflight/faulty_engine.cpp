// Runs the engine's own libraries with one fault, which RINGMASTER_FAULT names. The linker replaces functions
// by faulty ones (-Wl,--wrap). Preflight has to catch every fault.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/data/batch.h"
#include "engine/layout/attention_schedule.h"
#include "engine/train/gradient_reduction.h"
#include "engine/train/preference_rules.h"
#include "engine/train/shares.h"

using namespace ringmaster;

namespace {

bool put_in(std::string_view fault) {
    const char* asked = std::getenv("RINGMASTER_FAULT");
    return asked != nullptr && fault == asked;
}

}  // namespace

/// Defines the function that the linker calls instead of `symbol`. The original stays callable as
/// `real_<name>`. CMakeLists.txt reads the symbols from this file.
#define IN_PLACE_OF(symbol, returned, name, ...)               \
    returned real_##name(__VA_ARGS__) asm("__real_" symbol);   \
    returned faulty_##name(__VA_ARGS__) asm("__wrap_" symbol); \
    returned faulty_##name(__VA_ARGS__)

/// Removes the label of the last token of each span, as if labels were shifted after sharding.
// clang-format off
IN_PLACE_OF("_ZN10ringmaster10shard_rowsERKSt6vectorINS_3RowESaIS1_EERKNS_6LayoutEibNS_8SegmentsERKNS_13SharedPromptsE",
    // clang-format on
    BatchShard, shard_rows, const std::vector<Row>& rows, const Layout& layout, int rank, bool as_one,
    Segments segments, const SharedPrompts& prompts) {
    BatchShard shard = real_shard_rows(rows, layout, rank, as_one, segments, prompts);
    if (!put_in("label lost at shard edges")) return shard;
    const Spans& spans = layout.ranks[static_cast<size_t>(rank)];
    const int64_t width = count_tokens(spans);
    for (int64_t row = 0; row < shard.rows; ++row) {
        int64_t end = row * width;
        for (const Span& span : spans) {
            end += span.size();
            shard.labels[static_cast<size_t>(end - 1)] = kNoLabel;
        }
    }
    shard.valid_labels = std::count_if(shard.labels.begin(), shard.labels.end(),
                                       [](int64_t label) { return label != kNoLabel; });
    return shard;
}

/// Makes every rank count positions from 0.
IN_PLACE_OF("_ZN10ringmaster22positions_in_documentsERKSt6vectorINS_4SpanESaIS1_EERKNS_13AttentionMaskE",
            std::vector<int64_t>, positions_in_documents, const Spans& spans, const AttentionMask& mask) {
    std::vector<int64_t> positions = real_positions_in_documents(spans, mask);
    if (put_in("positions not adjusted")) {
        for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
    }
    return positions;
}

IN_PLACE_OF(
    "_ZN10ringmaster18make_ring_scheduleERKSt6vectorIS0_INS_4SpanESaIS1_EESaIS3_EEiRKNS_13AttentionMaskE",
    AttentionSchedule, make_ring_schedule, const std::vector<Spans>& spans, int rank,
    const AttentionMask& mask) {
    AttentionSchedule schedule = real_make_ring_schedule(spans, rank, mask);
    if (put_in("one hop dropped") && schedule.stages.size() > 1) schedule.stages.back().slices.clear();
    return schedule;
}

IN_PLACE_OF("_ZN10ringmaster11batch_shapeERKSt6vectorINS_3RowESaIS1_EERKNS_6ConfigESt8optionalIlEb",
            BatchShape, batch_shape, const std::vector<Row>& rows, const Config& config,
            std::optional<int64_t> window, bool shares_prompts) {
    BatchShape shape = real_batch_shape(rows, config, window, shares_prompts);
    if (put_in("document boundary ignored")) {
        shape.mask.documents.clear();
        shape.mask.continues.clear();
        shape.longest_document = shape.tokens;
    }
    if (put_in("shared prompt not seen")) shape.mask.continues.clear();
    return shape;
}

/// Puts the fault "document boundary ignored" into the expected counts too, so that only the computation
/// shows it.
// clang-format off
IN_PLACE_OF("_ZN10ringmaster12put_expectedERNS_6SharesERKSt6vectorINS_3RowESaIS3_EERKNS_11ModelConfigEbRKS2_IlSaIlEEll",
    // clang-format on
    void, put_expected, Shares& shares, const std::vector<Row>& rows, const ModelConfig& model, bool joined,
    const std::vector<int64_t>& shared, int64_t unpadded, int64_t tokens) {
    if (put_in("document boundary ignored"))
        real_put_expected(shares, rows, model, false, {}, tokens, tokens);
    else
        real_put_expected(shares, rows, model, joined, shared, unpadded, tokens);
}

IN_PLACE_OF("_ZN10ringmaster10count_rowsERKSt6vectorINS_3RowESaIS1_EE", RowCounts, count_rows,
            const std::vector<Row>& rows) {
    RowCounts counts = real_count_rows(rows);
    if (put_in("valid count averaged instead of summed")) counts.valid_labels /= 2;
    return counts;
}

/// Makes rejected answers of pairs, or every second row of KTO, weigh 1 % too much.
IN_PLACE_OF("_ZN10ringmaster15preference_lossERKNS_10PreferenceERKSt6vectorINS_12DocumentSumsESaIS4_EEd",
            PreferenceLoss, preference_loss, const Preference& preference,
            const std::vector<DocumentSums>& documents, double kl) {
    PreferenceLoss loss = real_preference_loss(preference, documents, kl);
    for (size_t i = 1; put_in("rejected answers weigh too much") && i < loss.slopes.size(); i += 2)
        loss.slopes[i].completion *= 1.01;
    return loss;
}

/// A function that replaces a member function takes `this` as its first parameter.
IN_PLACE_OF("_ZN10ringmaster17GradientReduction5startEi", void, start, GradientReduction* self, int unit) {
    if (!put_in("gradient not reduced")) real_start(self, unit);
}
