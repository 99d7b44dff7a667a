#include "engine/layout/flash_blocks.h"

#include <algorithm>
#include <numeric>

namespace ringmaster {

namespace {

// The unit of cost is the time in which one multiprocessor computes one cell of the attention matrix.
constexpr int64_t kEnough = int64_t{1} << 19;  // tokens × heads that fill any GPU
constexpr int64_t kLaunchCells = 1 << 16;      // about 30 µs on an H100

int64_t divided_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/// Returns how many keys a thread block takes per turn.
int64_t keys_of_block(int64_t head_dim) {
    return head_dim <= 128 ? 128 : 64;
}

int64_t visible_cells(const FlashSegment& segment, const FlashWindow& window) {
    const int64_t queries = segment.queries(), keys = segment.keys();
    int64_t cells = queries * keys;
    if (window.right == 0) cells -= std::min(queries, keys) * (std::min(queries, keys) - 1) / 2;
    if (window.left != FlashWindow::kNone) cells = std::min(cells, queries * (window.left + 1));
    return std::max<int64_t>(cells, 1);
}

class Costs {
  public:
    Costs(const FlashCall& call, const FlashHeads& heads, int64_t multiprocessors)
        : call_(call), heads_(heads), multiprocessors_(multiprocessors) {
        const FlashBlocks blocks = flash_blocks(heads.rows * heads.key_heads * heads.group, heads.head_dim);
        most_copies_ = blocks.copies * heads.rows * heads.key_heads * heads.group;
    }

    int64_t count() const { return static_cast<int64_t>(call_.segments.size()); }
    int64_t cells(int64_t segment) const {
        return visible_cells(call_.segments[static_cast<size_t>(segment)], call_.window);
    }

    /// The numbers of key/value heads in the launches of a dense call, largest first.
    struct Split {
        int64_t cost = 0;
        std::vector<int64_t> heads;
    };
    Split dense(int64_t segment) const {
        std::vector<Split> best(static_cast<size_t>(heads_.key_heads) + 1);
        for (int64_t all = 1; all <= heads_.key_heads; ++all) {
            Split& it = best[static_cast<size_t>(all)];
            for (int64_t last = all; last >= 1; --last) {
                if (last < heads_.key_heads && copies(last) > most_copies_) continue;
                const Split& before = best[static_cast<size_t>(all - last)];
                if (last < all && before.heads.empty()) continue;  // no split of the rest fits most_copies_
                const int64_t cost = before.cost + dense(segment, last);
                if (!it.heads.empty() && cost >= it.cost) continue;
                it = before;
                it.cost = cost;
                it.heads.push_back(last);
            }
        }
        std::sort(best.back().heads.rbegin(), best.back().heads.rend());
        return best.back();
    }

    /// Returns the cost of segments [begin, end) in one launch. Heads are the slowest dimension of the
    /// kernel's grid, so a long segment of the last head may start late.
    int64_t packed(int64_t begin, int64_t end) const {
        const int64_t pairs = heads_.rows * heads_.key_heads * heads_.group;
        const int64_t turns = divided_up(multiprocessors_, pairs * (end - begin));
        int64_t all = 0, longest = 0, queries = 0;
        for (int64_t i = begin; i < end; ++i) {
            all += cells(i);
            longest = std::max(longest, in_turns(i, turns));
            queries += call_.segments[static_cast<size_t>(i)].queries() + kFlashBlock;
        }
        return all * pairs / multiprocessors_ + longest + traffic(turns * pairs, queries) + kLaunchCells;
    }

  private:
    int64_t pairs(int64_t key_heads) const { return heads_.rows * key_heads * heads_.group; }
    int64_t copies(int64_t key_heads) const {
        return divided_up(multiprocessors_, pairs(key_heads)) * pairs(key_heads);
    }
    int64_t blocks(int64_t segment) const {
        return divided_up(call_.segments[static_cast<size_t>(segment)].keys(),
                          keys_of_block(heads_.head_dim));
    }
    /// Returns the cost of one thread block if `turns` thread blocks share a segment's blocks of keys.
    int64_t in_turns(int64_t segment, int64_t turns) const {
        return divided_up(blocks(segment), turns) * cells(segment) / blocks(segment);
    }
    /// Returns the cost of zeroing and reading dq's copies: on an H100, two thirds of a cell per query.
    static int64_t traffic(int64_t copies, int64_t queries) { return copies * queries * 2 / 3; }

    int64_t dense(int64_t segment, int64_t key_heads) const {
        const int64_t turns = divided_up(multiprocessors_, pairs(key_heads));
        const int64_t at_work = pairs(key_heads) * std::min(turns, blocks(segment));
        return divided_up(at_work, multiprocessors_) * in_turns(segment, turns) +
               traffic(copies(key_heads), call_.segments[static_cast<size_t>(segment)].queries()) +
               kLaunchCells;
    }

    const FlashCall& call_;
    const FlashHeads& heads_;
    int64_t multiprocessors_, most_copies_ = 0;
};

/// Lists the launches of a call that computes the segments `alone`, in ascending order, in separate launches.
class Shares {
  public:
    Shares(const Costs& costs, int64_t key_heads, const std::vector<int64_t>& alone)
        : costs_(costs), key_heads_(key_heads) {
        int64_t begin = 0;
        for (const int64_t segment : alone) {
            add_run(begin, segment);
            add_run(segment, segment + 1);
            begin = segment + 1;
        }
        add_run(begin, costs.count());
    }
    int64_t cost = 0;
    std::vector<FlashShare> list;

  private:
    void add_run(int64_t begin, int64_t end) {
        if (end - begin > 1) {
            cost += costs_.packed(begin, end);
            list.push_back({begin, end - begin, 0, key_heads_});
        } else if (end - begin == 1) {
            const Costs::Split split = costs_.dense(begin);
            cost += split.cost;
            int64_t head = 0;
            for (const int64_t heads : split.heads) {
                list.push_back({begin, 1, head, heads});
                head += heads;
            }
        }
    }

    const Costs& costs_;
    int64_t key_heads_;
};

}  // namespace

int64_t key_heads_at_once(int64_t tokens, int64_t key_heads, int64_t group) {
    return std::clamp<int64_t>(kEnough / std::max<int64_t>(1, tokens * group), 1, key_heads);
}

int64_t query_heads_at_once(int64_t tokens, int64_t query_heads, int64_t group) {
    const int64_t of_group = std::clamp<int64_t>(kEnough / std::max<int64_t>(1, tokens), 1, group);
    return of_group < group ? of_group : group * key_heads_at_once(tokens, query_heads / group, group);
}

std::vector<FlashShare> shares_of_heads(int64_t segments, int64_t key_heads, int64_t at_once) {
    std::vector<FlashShare> shares;
    for (int64_t head = 0; head < key_heads; head += at_once)
        shares.push_back({0, segments, head, std::min(at_once, key_heads - head)});
    return shares;
}

FlashBlocks flash_blocks(int64_t heads, int64_t head_dim) {
    constexpr int64_t kMostBytes = int64_t{2} << 30;
    constexpr int64_t kMultiprocessors = 192;  // the largest GPU so far, a full GB202
    FlashBlocks blocks;
    blocks.copies = divided_up(kMultiprocessors, heads);
    const int64_t bytes_per_query = blocks.copies * heads * head_dim * 4;
    blocks.queries_at_once = std::max(kFlashBlock, kMostBytes / bytes_per_query / kFlashBlock * kFlashBlock);
    return blocks;
}

std::vector<FlashShare> flash_shares(const FlashCall& call, const FlashHeads& heads,
                                     int64_t multiprocessors) {
    const Costs costs(call, heads, multiprocessors);
    std::vector<int64_t> longest(call.segments.size());
    std::iota(longest.begin(), longest.end(), 0);
    std::stable_sort(longest.begin(), longest.end(),
                     [&](int64_t a, int64_t b) { return costs.cells(a) > costs.cells(b); });
    Shares best(costs, heads.key_heads, {});
    // A segment is worth its own launch if it takes longer on one multiprocessor than its share of the call
    // takes on all of them, so `most` bounds the number of such segments.
    const int64_t most =
        std::min(costs.count() - 1, 2 * multiprocessors / (heads.rows * heads.key_heads * heads.group) + 1);
    std::vector<int64_t> alone;
    for (int64_t i = 0; i < most; ++i) {
        alone.insert(std::upper_bound(alone.begin(), alone.end(), longest[static_cast<size_t>(i)]),
                     longest[static_cast<size_t>(i)]);
        Shares shares(costs, heads.key_heads, alone);
        if (shares.cost < best.cost) {
            best.cost = shares.cost;
            best.list = std::move(shares.list);
        }
    }
    return best.list;
}

}  // namespace ringmaster
