#include "engine/layout/balanced_layout.h"

#include <algorithm>
#include <utility>

#include "engine/layout/balanced_pairs.h"

namespace ringmaster {

namespace {

/// A rank that is being filled with tokens.
struct Share {
    int64_t tokens = 0;  ///< tokens still missing
    int64_t work = 0;
    std::vector<DocumentPart> parts;
};

class Balancer {
  public:
    Balancer(int64_t tokens, int ranks, const AttentionMask& mask, int64_t more) : mask_(mask) {
        int64_t end = 0;
        for (const DocumentRange& document : documents_of(mask, tokens)) {
            add({document.begin, document.end, document});
            end = document.end;
        }
        if (end < tokens) add({end, tokens, {end, tokens}, true});
        goal_ = work_ / ranks;
        goal_ += goal_ * more / 1000 - goal_ / kSlackPart;  // the slack is added back in fits()
    }

    std::vector<DocumentPart> fill(int ranks_left) {
        Share share{(tokens_ + ranks_left - 1) / ranks_left, std::max(goal_, work_ / ranks_left), {}};
        slack_ = share.work / kSlackPart;
        if (ranks_left == 1) share.work = work_;
        while (share.tokens > 0 && take_longest_that_fits(share)) {
        }
        if (share.tokens > 0) cut_one(share);
        return share.parts;
    }

  private:
    static constexpr int64_t kSlackPart = 100;  ///< a rank's work may miss its goal by a hundredth

    int64_t work_between(const DocumentPart& rest, int64_t begin, int64_t end) const {
        return rest.work(begin, end, mask_);
    }
    int64_t work_of(const DocumentPart& rest) const { return work_between(rest, rest.begin, rest.end); }

    void add(const DocumentPart& rest) {
        if (rest.size() == 0) return;
        rests_.insert(std::upper_bound(rests_.begin(), rests_.end(), rest), rest);
        tokens_ += rest.size();
        work_ += work_of(rest);
    }
    DocumentPart remove(size_t at) {
        const DocumentPart rest = rests_[at];
        rests_.erase(rests_.begin() + static_cast<std::ptrdiff_t>(at));
        tokens_ -= rest.size();
        work_ -= work_of(rest);
        return rest;
    }
    void give(Share& share, const DocumentPart& rest, int64_t begin, int64_t end) {
        if (begin >= end) return;
        share.parts.push_back({begin, end, rest.document, rest.is_padding});
        share.tokens -= end - begin;
        share.work -= work_between(rest, begin, end);
    }

    /// Returns the work of `tokens` tokens taken from the shortest remainders, except remainder `but`. Takes
    /// only a tail of the last remainder if that is enough.
    int64_t light_work(int64_t tokens, size_t but) const {
        int64_t work = 0;
        for (size_t i = 0; i < rests_.size() && tokens > 0; ++i) {
            if (i == but) continue;
            const int64_t taken = std::min(tokens, rests_[i].size());
            work += work_between(rests_[i], rests_[i].end - taken, rests_[i].end);
            tokens -= taken;
        }
        return work;
    }

    /// Returns whether the share can take remainder `at` and still be filled up without too much work.
    bool fits(const Share& share, size_t at) const {
        const DocumentPart& rest = rests_[at];
        if (rest.size() > share.tokens) return false;
        return work_of(rest) + light_work(share.tokens - rest.size(), at) <= share.work + slack_;
    }

    bool take_longest_that_fits(Share& share) {
        const auto too_long =
            std::partition_point(rests_.begin(), rests_.end(), [&](const DocumentPart& rest) {
                return fits(share, static_cast<size_t>(&rest - rests_.data()));
            });
        // If the share is empty and the longest remainder does not fit, no share can take that remainder
        // whole, so it must be cut.
        const bool longest_is_due = share.parts.empty() && too_long != rests_.end();
        if (too_long == rests_.begin() || longest_is_due) return false;
        const DocumentPart rest = remove(static_cast<size_t>(too_long - rests_.begin()) - 1);
        give(share, rest, rest.begin, rest.end);
        return true;
    }

    /// Takes one remainder's tail up to the work target, then the shortest remainders, then the first one's
    /// head for the missing tokens.
    void cut_one(Share& share) {
        const DocumentPart rest = remove(rest_to_cut(share));
        while (!rests_.empty() && leaves_enough(share, rest, rests_.front())) {
            const DocumentPart light = remove(0);
            give(share, light, light.begin, light.end);
        }
        if (work_between(rest, rest.begin, rest.begin + std::min(share.tokens, rest.size())) >
            share.work + slack_) {
            fill_from_the_shallowest(share, rest);
        }
        const int64_t tokens = std::min(share.tokens, rest.size());
        int64_t high = 0;  // tokens taken from the remainder's end
        if (work_between(rest, rest.begin, rest.begin + tokens) + slack_ < share.work) {
            high = least(tokens, [&](int64_t from_end) {
                return work_between(rest, rest.end - from_end, rest.end) +
                           work_between(rest, rest.begin, rest.begin + tokens - from_end) >=
                       share.work;
            });
        }
        give(share, rest, rest.end - high, rest.end);
        give(share, rest, rest.begin, rest.begin + tokens - high);
        add({rest.begin + tokens - high, rest.end - high, rest.document, rest.is_padding});
        while (share.tokens > 0 && !rests_.empty())
            give_beginning(share, 0, share.tokens);  // needed if the remainder was too short
    }

    /// Gives the share the first `tokens` tokens of remainder `at`, or all if it has fewer.
    void give_beginning(Share& share, size_t at, int64_t tokens) {
        const DocumentPart rest = remove(at);
        const int64_t taken = std::min(tokens, rest.size());
        give(share, rest, rest.begin, rest.begin + taken);
        add({rest.begin + taken, rest.end, rest.document, rest.is_padding});
    }

    /// If even the head of `rest` is too much work for the missing tokens, takes heads of other remainders
    /// until the tail of `rest` has exactly the missing work.
    void fill_from_the_shallowest(Share& share, const DocumentPart& rest) {
        const auto depth = [](const DocumentPart& other) { return other.begin - other.document.begin; };
        while (share.tokens > 0 && !rests_.empty()) {
            const auto shallowest = std::min_element(
                rests_.begin(), rests_.end(),
                [&](const DocumentPart& a, const DocumentPart& b) { return depth(a) < depth(b); });
            const int64_t most = std::min(share.tokens, shallowest->size());
            const DocumentPart filler = *shallowest;
            if (depth(filler) >= depth(rest)) return;
            const int64_t taken = least(most, [&](int64_t count) {
                const int64_t from_rest = std::min(share.tokens - count, rest.size());
                return work_between(filler, filler.begin, filler.begin + count) +
                           work_between(rest, rest.end - from_rest, rest.end) <=
                       share.work + slack_;
            });
            if (taken == 0) return;
            give_beginning(share, static_cast<size_t>(shallowest - rests_.begin()), taken);
            if (taken < filler.size()) return;
        }
    }

    /// Returns whether the tail of `rest` still has enough work if the share takes all of `light`.
    bool leaves_enough(const Share& share, const DocumentPart& rest, const DocumentPart& light) const {
        const int64_t tokens = share.tokens - light.size();
        if (tokens < 0) return false;
        const int64_t taken = std::min(tokens, rest.size());
        return work_between(rest, rest.end - taken, rest.end) >= share.work - work_of(light);
    }

    /// Returns the shortest remainder with enough work in its tail, or else the longest remainder.
    size_t rest_to_cut(const Share& share) const {
        if (share.parts.empty()) return rests_.size() - 1;
        for (size_t i = 0; i < rests_.size(); ++i) {
            const DocumentPart& rest = rests_[i];
            if (rest.size() < share.tokens) continue;
            if (work_between(rest, rest.end - share.tokens, rest.end) >= share.work) return i;
        }
        return rests_.size() - 1;
    }

    const AttentionMask& mask_;
    std::vector<DocumentPart> rests_;  ///< ascending by the work of their last token
    int64_t tokens_ = 0;
    int64_t work_ = 0;
    int64_t goal_ = 0;  ///< work that a rank may take even if an equal share is less
    int64_t slack_ = 0;
};

/// Swaps equal numbers of tokens between the ranks with the most and the least work until the most is close
/// to the mean.
class Leveller {
  public:
    Leveller(std::vector<std::vector<DocumentPart>>& ranks, const AttentionMask& mask, int64_t spare)
        : ranks_(ranks), mask_(mask) {
        for (const std::vector<DocumentPart>& parts : ranks) {
            int64_t work = 0;
            for (const DocumentPart& part : parts) work += part.work(part.begin, part.end, mask);
            work_.push_back(work);
            mean_ += work;
        }
        mean_ /= static_cast<int64_t>(ranks.size());
        limit_ = mean_ + std::max(mean_ / kSlackPart, mean_ * spare / 1000);
    }

    void level() {
        for (size_t swaps = 0; swaps < 8 * ranks_.size(); ++swaps) {
            const auto [few, much] = std::minmax_element(work_.begin(), work_.end());
            const int64_t wanted = std::min(*much - mean_, mean_ - *few);
            if (*much <= limit_ || wanted <= 0) return;
            if (!swap_best(static_cast<size_t>(much - work_.begin()),
                           static_cast<size_t>(few - work_.begin()), wanted))
                return;
        }
    }

  private:
    static constexpr int64_t kSlackPart = 50;

    /// Exchanges the tail of a part of one rank for the head of a part of the other.
    struct Swap {
        size_t from = 0, to = 0;
        int64_t tokens = 0;
        int64_t gain = 0;   ///< work that moves to the other rank
        int64_t reach = 0;  ///< keys that the two ranks read after the swap
    };

    Swap best_swap(const std::vector<DocumentPart>& much, const std::vector<DocumentPart>& few,
                   int64_t wanted) const {
        Swap best;
        for (size_t i = 0; i < much.size(); ++i) {
            for (size_t j = 0; j < few.size(); ++j) {
                const DocumentPart &a = much[i], &b = few[j];
                const auto gain = [&](int64_t tokens) {
                    return a.work(a.end - tokens, a.end, mask_) - b.work(b.begin, b.begin + tokens, mask_);
                };
                const int64_t most = std::min(a.size(), b.size());
                if (gain(1) <= 0) continue;
                Swap swap{i, j, least(most, [&](int64_t n) { return gain(n) >= wanted; }), 0, 0};
                swap.gain = std::min(gain(swap.tokens), wanted);
                swap.reach = a.end - a.document.begin + b.begin - b.document.begin + swap.tokens;
                const bool better = best.gain < wanted ? swap.gain > best.gain
                                                       : swap.gain == wanted && swap.reach < best.reach;
                if (swap.gain > 0 && better) best = swap;
            }
        }
        return best;
    }

    bool swap_best(size_t much, size_t few, int64_t wanted) {
        const Swap swap = best_swap(ranks_[much], ranks_[few], wanted);
        if (swap.tokens == 0) return false;
        DocumentPart &a = ranks_[much][swap.from], &b = ranks_[few][swap.to];
        DocumentPart end = a, beginning = b;
        end.begin = a.end = a.end - swap.tokens;
        beginning.end = b.begin = b.begin + swap.tokens;
        const int64_t moved =
            end.work(end.begin, end.end, mask_) - beginning.work(beginning.begin, beginning.end, mask_);
        work_[much] -= moved;
        work_[few] += moved;
        ranks_[much].push_back(beginning);
        ranks_[few].push_back(end);
        for (const size_t rank : {much, few})
            std::erase_if(ranks_[rank], [](const DocumentPart& part) { return part.size() == 0; });
        return true;
    }

    std::vector<std::vector<DocumentPart>>& ranks_;
    const AttentionMask& mask_;
    std::vector<int64_t> work_;
    int64_t mean_ = 0;
    int64_t limit_ = 0;
};

/// The parts of every rank, with their work and traffic.
struct Placement {
    std::vector<std::vector<DocumentPart>> ranks;
    int64_t mean_work = 0;
    int64_t most_work = 0;
    int64_t received = 0;
};

void measure(Placement& placed, const AttentionMask& mask) {
    placed.mean_work = placed.most_work = placed.received = 0;
    for (const std::vector<DocumentPart>& parts : placed.ranks) {
        int64_t work = 0;
        for (const DocumentPart& part : parts) work += part.work(part.begin, part.end, mask);
        placed.mean_work += work;
        placed.most_work = std::max(placed.most_work, work);
        placed.received += received_keys(parts, mask);
    }
    placed.mean_work /= static_cast<int64_t>(placed.ranks.size());
}

/// Places the documents. A rank may exceed the mean work by `spare` thousandths if that saves keys; the ranks
/// filled first, with the tails of the longest documents, aim at `goal` thousandths above the mean.
Placement place(int64_t tokens, int ranks, const AttentionMask& mask, int64_t spare, int64_t goal) {
    Placement placed;
    Balancer balancer(tokens, ranks, mask, goal);
    for (int rank = 0; rank < ranks; ++rank) placed.ranks.push_back(balancer.fill(ranks - rank));
    Leveller(placed.ranks, mask, spare).level();
    measure(placed, mask);
    divide_pairs(placed.ranks, mask,
                 std::max(placed.most_work, placed.mean_work + placed.mean_work * spare / 1000));
    measure(placed, mask);
    return placed;
}

}  // namespace

std::vector<Spans> balanced_spans(int64_t tokens, int ranks, const AttentionMask& mask) {
    constexpr int64_t kSpare = 49;
    const int64_t little = tokens * (ranks - 1) / 5;  // a fifth of a full ring's traffic
    Placement placed = place(tokens, ranks, mask, 0, 0);
    for (const int64_t goal : {int64_t{0}, kSpare}) {
        if (placed.received <= little) break;
        Placement looser = place(tokens, ranks, mask, kSpare, goal);
        const bool level = looser.most_work <= looser.mean_work + looser.mean_work * kSpare / 1000;
        if (level && looser.received <= little) placed = std::move(looser);
    }
    std::vector<Spans> spans;
    for (std::vector<DocumentPart>& of_rank : placed.ranks)
        spans.push_back(spans_of_parts(std::move(of_rank)));
    return spans;
}

}  // namespace ringmaster
