#include "engine/plan/memory/memory_trace.h"

#include <gtest/gtest.h>

#include "engine/plan/plan_request.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

TEST(Heap, RemembersTheMostThatWasInUseAtOnce) {
    Heap heap;
    {
        const Heap::Block weights = heap.take(100, MemoryPart::Weights);
        Heap::Block first = heap.take(30), second = heap.take(20, MemoryPart::Logits);
        first.free();
        heap.touch(25);
        second = heap.take(5);  // both blocks are allocated at the same time here
    }
    EXPECT_EQ(heap.peak(), 150);
    EXPECT_EQ(heap.at_peak(MemoryPart::Weights), 100);
    EXPECT_EQ(heap.at_peak(MemoryPart::Workspace), 30);
    EXPECT_EQ(heap.most(MemoryPart::Logits), 20);
    const Heap::Block again = heap.take(160);
    EXPECT_EQ(heap.peak(), 160) << "what was in use before is free";
}

RankMemory of_rank(const char* layout, int rank) {
    const Plan plan = plan_of(
        "sequence_len: 1048576\ngradient_checkpointing: true\ntiled_mlp: true\n"
        "context_parallel_size: 4\nring_attn_func: " +
            std::string(layout) + "\n",
        4);
    return plan.memory->per_rank.at(static_cast<size_t>(rank));
}

TEST(MemoryTrace, KnowsWhoseKeysComeToARank) {
    EXPECT_LT(of_rank("batch_ring", 0).total, of_rank("batch_ring", 3).total)
        << "no rank's keys are read by the first of a contiguous ring";
    EXPECT_GE(of_rank("batch_zigzag", 0).total, of_rank("batch_zigzag", 3).total)
        << "the last reads half of what others hold";
}

// A ring's sums stay allocated while the kernel computes. The kernel itself holds 10 bytes per element of dq:
// float32 sums, and dk and dv of every query head. For so many tokens, the kernel takes one of the 8
// key/value heads at a time.
TEST(MemoryTrace, AGpusKernelHoldsItsGradientsBesideTheSumsOfARing) {
    PlanRequest request;
    request.device = Device::Cuda;
    const Plan plan = plan_of(
        "sequence_len: 1048576\ngradient_checkpointing: true\ntiled_mlp: true\n"
        "context_parallel_size: 4\nring_attn_func: batch_zigzag\n",
        4, request);
    const double queries = 1048576.0 / 4 * 32 * 128, keys = queries / 4;
    const double sums = 4 * queries + 4 * 2 * keys, of_kernel = 10 * queries / 8;
    EXPECT_GE(double(plan.memory->per_rank[0].workspace), sums + of_kernel);
}

TEST(MemoryTrace, EachOptionTakesMemoryOff) {
    const auto total = [](const std::string& options) {
        return plan_of("sequence_len: 65536\n" + options, 1).memory->per_rank[0].total;
    };
    const auto checkpointed = total("gradient_checkpointing: true\n");
    const auto selective = total("gradient_checkpointing: true\nselective_checkpointing: true\n");
    EXPECT_LT(checkpointed, selective);
    EXPECT_LT(selective, total(""));
    EXPECT_LT(total("tiled_mlp: true\n"), total(""));
    EXPECT_LT(checkpointed, total("gradient_checkpointing: true\ntiled_mlp: false\n"))
        << "by itself it takes tiles that cost no time";
    EXPECT_LT(total("gradient_checkpointing: offload\n"), checkpointed);
}

// At 65,536 tokens, the checkpoints of 31 layers and the states are by far the largest.
TEST(MemoryTrace, NamesWhatIsAboveFivePercentOfThePeak) {
    const Plan plan = plan_of("sequence_len: 65536\ngradient_checkpointing: true\n", 1);
    const auto largest = largest_tensors(plan);
    ASSERT_GE(largest.size(), 4u);
    EXPECT_EQ(largest[0].name, "optimizer states");
    double named = 0;
    for (const LargeTensor& tensor : largest) {
        EXPECT_GT(tensor.share, 0.05) << tensor.name;
        named += tensor.share;
        if (tensor.name != "inputs of all other layers") continue;
        EXPECT_EQ(tensor.bytes, 31 * 65536LL * 4096 * 2);
    }
    EXPECT_GT(named, 0.8);
    EXPECT_LE(named, 1.0);
}

TEST(MemoryTrace, TilesAreTakenByThemselvesOnlyWhereTheyCostNoTime) {
    const auto tile = [](const std::string& options, int64_t tokens) {
        const Plan plan = plan_of("sequence_len: 65536\n" + options, 1);
        return mlp_tile_tokens(plan.config, *plan.model, tokens);
    };
    const std::string checkpointing = "gradient_checkpointing: true\n";
    EXPECT_EQ(tile(checkpointing, 65536), 8192);
    EXPECT_EQ(tile(checkpointing + "tiled_mlp: auto\n", 65536), 8192);
    EXPECT_EQ(tile(checkpointing, 1 << 20), 65536) << "at most 16 partial sums of a gradient";
    EXPECT_EQ(tile(checkpointing, 16383), 0) << "tiles would be short";
    EXPECT_EQ(tile("tiled_mlp: auto\n", 65536), 0) << "the backward would compute gate and up again";
    EXPECT_EQ(tile(checkpointing + "tiled_mlp: false\n", 65536), 0);
    EXPECT_EQ(tile(checkpointing + "tiled_mlp: true\n", 65536), 4096);
}

// If chunks keep their size, longer sequences add only 16 bytes per token to what a device holds, for ids and
// labels.
TEST(MemoryTrace, ADeviceHoldsOneChunkHoweverManyThereAre) {
    const auto of_rank = [](int64_t chunks) {
        const Plan plan = plan_of("sequence_len: " + std::to_string(16384 * chunks) +
                                      "\nsequence_chunks: " + std::to_string(chunks) +
                                      "\ngradient_checkpointing: true\nactivation_offloading: true\n",
                                  1);
        EXPECT_EQ(plan.sequence.chunks, chunks);
        return plan.memory->per_rank.at(0);
    };
    const RankMemory few = of_rank(4), many = of_rank(32);
    EXPECT_EQ(many.total - few.total, 16 * 16384 * (32 - 4));
    EXPECT_GT(many.host, 7 * few.host);
    const Plan whole =
        plan_of("sequence_len: 65536\ngradient_checkpointing: true\nactivation_offloading: true\n", 1);
    EXPECT_LT(few.total, whole.memory->per_rank[0].total);
}

}  // namespace
}  // namespace ringmaster
