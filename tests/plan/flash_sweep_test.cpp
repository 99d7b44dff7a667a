// Checks the launches of FlashAttention-2 for the slice sets of whole runs, without tensors, against the
// launch rules of its kernels (flash_contract.h). Every row that is read must have been written, and each
// query must see exactly its keys.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/layout/flash_blocks.h"
#include "engine/layout/flash_calls.h"
#include "tests/support/flash_cases.h"
#include "tests/support/flash_contract.h"

namespace ringmaster {
namespace {

/// Sums, for each query, the random numbers of the keys that it sees; equal sums mean the same keys, each
/// once.
class Seen {
  public:
    Seen(int64_t queries, int64_t keys) : sums_(static_cast<size_t>(queries)) {
        static const std::vector<uint64_t> numbers = [] {
            std::mt19937_64 random(1);
            std::vector<uint64_t> before(1 << 16);
            for (size_t i = 1; i < before.size(); ++i) before[i] = before[i - 1] + random();
            return before;
        }();
        before_ = numbers.data();
        keys_ = keys;
    }
    void add(int64_t query, int64_t first, int64_t last) {
        if (first >= last) return;
        flash2::require(first >= 0 && last <= keys_, "keys of others");
        sums_.at(static_cast<size_t>(query)) += before_[last] - before_[first];
    }
    bool operator==(const Seen& other) const { return sums_ == other.sums_; }

  private:
    std::vector<uint64_t> sums_;
    const uint64_t* before_ = nullptr;
    int64_t keys_ = 0;
};

Seen seen_in(const SliceSet& set) {
    Seen seen(set.queries, set.keys);
    for (const Slice& it : set.slices) {
        for (int64_t i = it.query_begin; i < it.query_end; ++i) {
            const int64_t row = i - it.query_begin;
            seen.add(i, it.key_begin + (it.mask == SliceMask::InverseCausal ? row : 0),
                     it.mask == SliceMask::Causal ? it.key_begin + row + 1 : it.key_end);
        }
    }
    return seen;
}

/// Describes the launch of one sequence, with the engine's arguments.
struct Launched {
    const FlashPacking& packing;
    flash2::Launch launch;

    Launched(const FlashPacking& it, int64_t head_dim) : packing(it) {
        const FlashArguments with =
            it.dense ? flash_arguments(it.window, true, it.queries.size(), it.keys[0].size())
                     : flash_arguments(it.window, false, it.most_queries, it.most_keys);
        launch = {it.query_ends, it.key_ends, with.max_queries,
                  with.max_keys, with.causal, with.left,
                  with.right,    32,          8,
                  head_dim};
        flash2::check_limits(launch);
    }

    /// Checks that the launch writes every row up to the last end, because all of these rows are read.
    void check_written() const {
        const int64_t keys = std::accumulate(packing.keys.begin(), packing.keys.end(), int64_t{0},
                                             [](int64_t sum, const KeyRange& it) { return sum + it.size(); });
        flash2::require(launch.query_ends.back() == packing.queries.size(), "queries are left out");
        flash2::require(launch.key_ends.back() == keys, "keys are left out");
        for (int64_t i = 0; i < launch.segments(); ++i) {
            flash2::require(flash2::forward_rows(launch, i) == launch.queries(i), "out is not written");
            flash2::require(flash2::backward_rows(launch, i) == launch.queries(i), "dq is not written");
            flash2::require(flash2::backward_keys(launch, i) == launch.keys(i), "dk is not written");
        }
    }

    void add_to(Seen& seen, bool forward) const {
        const flash2::Sight sight = flash2::sight_of(launch, forward);
        size_t range = 0;
        int64_t range_at = 0;
        for (int64_t s = 0; s < launch.segments(); ++s) {
            if (launch.keys(s) == 0) continue;
            while (launch.key_begin(s) >= range_at + packing.keys.at(range).size())
                range_at += packing.keys.at(range++).size();
            const int64_t key = packing.keys[range].begin + launch.key_begin(s) - range_at;
            flash2::require(key + launch.keys(s) <= packing.keys[range].end, "keys of two stretches");
            for (int64_t i = 0; i < launch.queries(s); ++i) {
                seen.add(packing.queries.begin + launch.query_begin(s) + i,
                         key + sight.first(i, launch.queries(s), launch.keys(s)),
                         key + sight.last(i, launch.queries(s), launch.keys(s)));
            }
        }
    }
};

/// These head dims lead to different block sizes.
constexpr std::array<int64_t, 4> kHeadDims = {32, 64, 128, 256};

/// Checks that the forward launches see exactly the set's cells. Throws a description of the first error.
void check_forward(const SliceSet& set, int64_t head_dim) {
    Seen seen(set.queries, set.keys);
    const std::vector<FlashCall> calls = flash_calls(set.slices);
    for (const FlashCall& call : calls) {
        for (const FlashPacking& packing : pack(call, 1)) {
            const Launched launched(packing, head_dim);
            launched.check_written();
            launched.add_to(seen, true);
        }
    }
    flash2::require(seen == seen_in(set), "the forward sees other keys");
    if (calls.size() != 1) return;
    if (const auto whole = pack_whole(calls[0], 1, set.queries, set.keys)) {
        Seen of_whole(set.queries, set.keys);
        const Launched launched(*whole, head_dim);
        launched.check_written();
        launched.add_to(of_whole, true);
        flash2::require(of_whole == seen, "one launch sees other keys");
        flash2::require(whole->queries == KeyRange{0, set.queries}, "one launch leaves queries out");
    }
}

/// Checks launches that fill `multiprocessors`; the segments of each key/value head must see everything.
void check_backward(const SliceSet& set, const FlashHeads& heads, int64_t multiprocessors) {
    const Seen expected = seen_in(set);
    std::vector<Seen> seen(static_cast<size_t>(heads.key_heads), Seen(set.queries, set.keys));
    for (const FlashCall& call : flash_calls(set.slices)) {
        for (const FlashShare& share : flash_shares(call, heads, multiprocessors)) {
            const auto first = call.segments.begin() + share.first_segment;
            for (const FlashPacking& packing : pack({call.window, {first, first + share.segments}}, 1)) {
                const Launched launched(packing, heads.head_dim);
                launched.check_written();
                for (int64_t head = share.first_head; head < share.first_head + share.heads; ++head)
                    launched.add_to(seen.at(static_cast<size_t>(head)), false);
            }
        }
    }
    for (const Seen& of_head : seen) flash2::require(of_head == expected, "the backward sees other keys");
}

TEST(FlashSweep, EveryRowThatIsReadWasWrittenAndSeesItsKeys) {
    int wrong = 0;
    const int done = SliceSets(kSweepSeed).sweep(kSweptSets, [&](const SliceSet& set, int number) {
        try {
            check_forward(set, kHeadDims[static_cast<size_t>(number) % kHeadDims.size()]);
            if (number % 8 == 0) {
                const FlashHeads heads{1, number % 16 == 0 ? 2 : 8, 1 << number / 8 % 4, 128};
                check_backward(set, heads, number % 24 == 0 ? 108 : 132);
            }
        } catch (const std::exception& problem) {
            if (++wrong <= 5) ADD_FAILURE() << set.name << ": " << problem.what();
        }
    });
    EXPECT_EQ(wrong, 0) << "of " << done;
    RecordProperty("slice_sets", done);
}

}  // namespace
}  // namespace ringmaster
