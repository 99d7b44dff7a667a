/// Generates the slice sets of random runs from a seed. A slice set is what one rank computes in one hop. The
/// runs differ in layout, documents, shared prompts, window and number of ranks.
#pragma once

#include <array>
#include <random>
#include <string>
#include <vector>

#include "engine/layout/attention_schedule.h"
#include "engine/layout/layout.h"
#include "tests/plan/layout_cases.h"

namespace ringmaster {

struct SliceSet {
    std::string name;
    int64_t queries = 0, keys = 0;
    std::vector<Slice> slices;
};

/// Seed of the slice sets that the sweep tests use: a default test checks all their launches, and an
/// exhaustive test compares them with float64.
constexpr uint64_t kSweepSeed = 17;
constexpr int kSweptSets = 52000;

class SliceSets {
  public:
    explicit SliceSets(uint64_t seed) : random_(seed) {}

    /// Chooses another random run of `tokens` tokens and returns its slice sets.
    std::vector<SliceSet> next(int64_t tokens) {
        const auto func = kEveryLayout[static_cast<size_t>(draw(0, std::size(kEveryLayout) - 1))];
        const int ring = 1 << draw(0, 3);
        const AttentionMask mask = draw_mask(tokens);
        const Layout layout = make_layout(func, tokens, ring, 1, mask);
        std::vector<SliceSet> sets;
        for (int rank = 0; rank < ring; ++rank) {
            const bool gathered = func == RingAttnFunc::VarlenLlama3;
            const AttentionSchedule schedule = gathered ? make_gather_schedule(layout.ranks, rank, mask, 1)
                                                        : make_ring_schedule(layout.ranks, rank, mask);
            for (size_t hop = 0; hop < schedule.stages.size(); ++hop) {
                const Stage& stage = schedule.stages[hop];
                if (stage.slices.empty()) continue;
                sets.push_back({named(func, ring, mask, tokens) + ", rank " + std::to_string(rank) +
                                    ", hop " + std::to_string(hop),
                                layout.tokens_of(rank), stage.keys, stage.slices});
            }
        }
        return sets;
    }

    /// Calls `body` with at least `count` slice sets, from random runs of 1,024 to 4,096 tokens. Returns the
    /// number of calls.
    template <typename Body>
    int sweep(int count, const Body& body) {
        constexpr std::array<int64_t, 6> kTokens = {1024, 1024, 1536, 2048, 1024, 4096};
        int done = 0;
        for (size_t run = 0; done < count; ++run) {
            for (const SliceSet& set : next(kTokens[run % kTokens.size()])) body(set, ++done);
        }
        return done;
    }

    int64_t draw(int64_t from, int64_t to) {
        return from + static_cast<int64_t>(random_() % static_cast<uint64_t>(to - from + 1));
    }

  private:
    /// Returns a random mask with documents of one of five kinds; half of the runs get padding at the end.
    AttentionMask draw_mask(int64_t tokens) {
        AttentionMask mask;
        const int64_t padding = draw(0, 1) == 0 ? 0 : draw(1, tokens * 3 / 5);
        const int64_t end = tokens - padding, kind = draw(0, 4);
        const auto fill = [&](int64_t shortest, int64_t longest) {
            int64_t at = mask.documents.empty() ? 0 : mask.documents.back();
            while (at < end) mask.documents.push_back(at = std::min(end, at + draw(shortest, longest)));
        };
        if (kind == 1) fill(tokens / 5, tokens / 2);
        if (kind == 2) fill(1, 90);
        if (kind == 3) fill(1, tokens / 4);
        if (kind == 4) {  // one long document among short ones
            mask.documents.push_back(draw(1, end));
            fill(1, 70);
        }
        if (mask.documents.empty()) mask.documents.push_back(end);
        if (draw(0, 2) == 0) mask.window = draw(1, draw(0, 1) == 0 ? 64 : tokens / 2);
        if (kind == 1 && mask.window == 0) {  // the other documents are answers to the first
            mask.continues.assign(mask.documents.size(), 0);
            mask.continues[0] = -1;
        }
        return mask;
    }

    static std::string named(RingAttnFunc func, int ring, const AttentionMask& mask, int64_t tokens) {
        return std::string(to_string(func)) + " over " + std::to_string(ring) + ", " +
               std::to_string(tokens) + " tokens, " + std::to_string(mask.documents.size()) +
               (mask.continues.empty() ? " documents to " : " documents with one prompt to ") +
               std::to_string(mask.documents.back()) + ", window " + std::to_string(mask.window);
    }

    std::mt19937_64 random_;
};

}  // namespace ringmaster
