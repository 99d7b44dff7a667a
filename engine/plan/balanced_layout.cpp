#include "engine/plan/balanced_layout.h"

#include <algorithm>
#include <utility>

namespace ringmaster {

namespace {

/// A part of a document: positions [begin, end).
struct Rest {
    int64_t begin = 0;
    int64_t end = 0;
    DocumentRange document;
    bool is_padding = false;

    int64_t size() const { return end - begin; }
    int64_t work(int64_t from, int64_t to, const AttentionMask& mask) const {
        return is_padding || from >= to ? 0 : visible_cells(Piece{{from, to}, document}, mask);
    }
    bool operator<(const Rest& other) const {  // by the work of the last token
        return std::pair(end - document.begin, begin) <
               std::pair(other.end - other.document.begin, other.begin);
    }
};

/// A rank that is being filled.
struct Share {
    int64_t tokens = 0;  ///< still wanted
    int64_t work = 0;
    std::vector<Rest> parts;
};

/// The smallest number in [0, limit] that is `enough`, else limit.
template <typename Enough>
int64_t least(int64_t limit, Enough enough) {
    int64_t low = 0, high = limit;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (enough(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

class Balancer {
  public:
    Balancer(int64_t tokens, const AttentionMask& mask) : mask_(mask) {
        int64_t end = 0;
        for (const DocumentRange& document : documents_of(mask, tokens)) {
            add({document.begin, document.end, document});
            end = document.end;
        }
        if (end < tokens) add({end, tokens, {end, tokens}, true});
    }

    std::vector<Rest> fill(int ranks_left) {
        Share share{(tokens_ + ranks_left - 1) / ranks_left, work_ / ranks_left, {}};
        slack_ = share.work / kSlackPart;
        if (ranks_left == 1) share.work = work_;
        while (share.tokens > 0 && take_longest_that_fits(share)) {
        }
        if (share.tokens > 0) cut_one(share);
        return share.parts;
    }

  private:
    static constexpr int64_t kSlackPart = 100;  ///< a rank's work may miss its goal by this part of it

    int64_t work_between(const Rest& rest, int64_t begin, int64_t end) const {
        return rest.work(begin, end, mask_);
    }
    int64_t work_of(const Rest& rest) const { return work_between(rest, rest.begin, rest.end); }

    void add(const Rest& rest) {
        if (rest.size() == 0) return;
        rests_.insert(std::upper_bound(rests_.begin(), rests_.end(), rest), rest);
        tokens_ += rest.size();
        work_ += work_of(rest);
    }
    Rest remove(size_t at) {
        const Rest rest = rests_[at];
        rests_.erase(rests_.begin() + static_cast<std::ptrdiff_t>(at));
        tokens_ -= rest.size();
        work_ -= work_of(rest);
        return rest;
    }
    void give(Share& share, const Rest& rest, int64_t begin, int64_t end) {
        if (begin >= end) return;
        share.parts.push_back({begin, end, rest.document, rest.is_padding});
        share.tokens -= end - begin;
        share.work -= work_between(rest, begin, end);
    }

    /// Work of `tokens` of the shortest rests, without the one at `but`; the last one's end where it is cut.
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

    /// Whether the share can still be filled up without too much work.
    bool fits(const Share& share, size_t at) const {
        const Rest& rest = rests_[at];
        if (rest.size() > share.tokens) return false;
        return work_of(rest) + light_work(share.tokens - rest.size(), at) <= share.work + slack_;
    }

    bool take_longest_that_fits(Share& share) {
        const auto too_long = std::partition_point(rests_.begin(), rests_.end(), [&](const Rest& rest) {
            return fits(share, static_cast<size_t>(&rest - rests_.data()));
        });
        // The longest of all does not fit, and no share will ever take it whole: it is cut.
        const bool longest_is_due = share.parts.empty() && too_long != rests_.end();
        if (too_long == rests_.begin() || longest_is_due) return false;
        const Rest rest = remove(static_cast<size_t>(too_long - rests_.begin()) - 1);
        give(share, rest, rest.begin, rest.end);
        return true;
    }

    /// The end of one rest, as much of it as brings the work; the shortest rests; and the one's beginning for
    /// the tokens that are missing then.
    void cut_one(Share& share) {
        const Rest rest = remove(rest_to_cut(share));
        while (!rests_.empty() && leaves_enough(share, rest, rests_.front())) {
            const Rest light = remove(0);
            give(share, light, light.begin, light.end);
        }
        if (work_between(rest, rest.begin, rest.begin + std::min(share.tokens, rest.size())) >
            share.work + slack_) {
            fill_from_the_shallowest(share, rest);
        }
        const int64_t tokens = std::min(share.tokens, rest.size());
        int64_t high = 0;  // of the tokens from its end
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
            give_beginning(share, 0, share.tokens);  // it was too short
    }

    /// The first tokens, as many as there are of `tokens`, of the rest at `at`.
    void give_beginning(Share& share, size_t at, int64_t tokens) {
        const Rest rest = remove(at);
        const int64_t taken = std::min(tokens, rest.size());
        give(share, rest, rest.begin, rest.begin + taken);
        add({rest.begin + taken, rest.end, rest.document, rest.is_padding});
    }

    /// Where even the beginning of `rest` is too much work for the tokens that are missing: beginnings of
    /// others, as many tokens as leave the right work to the end of `rest`.
    void fill_from_the_shallowest(Share& share, const Rest& rest) {
        const auto depth = [](const Rest& other) { return other.begin - other.document.begin; };
        while (share.tokens > 0 && !rests_.empty()) {
            const auto shallowest =
                std::min_element(rests_.begin(), rests_.end(),
                                 [&](const Rest& a, const Rest& b) { return depth(a) < depth(b); });
            const int64_t most = std::min(share.tokens, shallowest->size());
            const Rest filler = *shallowest;
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

    /// With the light one there is still work enough in the end of `rest`.
    bool leaves_enough(const Share& share, const Rest& rest, const Rest& light) const {
        const int64_t tokens = share.tokens - light.size();
        if (tokens < 0) return false;
        const int64_t taken = std::min(tokens, rest.size());
        return work_between(rest, rest.end - taken, rest.end) >= share.work - work_of(light);
    }

    /// The shortest with work enough in its end, else the longest.
    size_t rest_to_cut(const Share& share) const {
        if (share.parts.empty()) return rests_.size() - 1;
        for (size_t i = 0; i < rests_.size(); ++i) {
            const Rest& rest = rests_[i];
            if (rest.size() < share.tokens) continue;
            if (work_between(rest, rest.end - share.tokens, rest.end) >= share.work) return i;
        }
        return rests_.size() - 1;
    }

    const AttentionMask& mask_;
    std::vector<Rest> rests_;  ///< ascending
    int64_t tokens_ = 0;
    int64_t work_ = 0;
    int64_t slack_ = 0;
};

/// Swaps tokens, as many for as many, between the rank with the most work and the one with the least until
/// the most is near the mean.
class Leveller {
  public:
    Leveller(std::vector<std::vector<Rest>>& ranks, const AttentionMask& mask) : ranks_(ranks), mask_(mask) {
        for (const std::vector<Rest>& parts : ranks) {
            int64_t work = 0;
            for (const Rest& part : parts) work += part.work(part.begin, part.end, mask);
            work_.push_back(work);
            mean_ += work;
        }
        mean_ /= static_cast<int64_t>(ranks.size());
    }

    void level() {
        for (size_t swaps = 0; swaps < 8 * ranks_.size(); ++swaps) {
            const auto [few, much] = std::minmax_element(work_.begin(), work_.end());
            const int64_t wanted = std::min(*much - mean_, mean_ - *few);
            if (*much <= mean_ + mean_ / kSlackPart || wanted <= 0) return;
            if (!swap_best(static_cast<size_t>(much - work_.begin()),
                           static_cast<size_t>(few - work_.begin()), wanted))
                return;
        }
    }

  private:
    static constexpr int64_t kSlackPart = 50;

    /// The end of a part of one rank for the beginning of one of the other.
    struct Swap {
        size_t from = 0, to = 0;
        int64_t tokens = 0;
        int64_t gain = 0;   ///< work that moves
        int64_t reach = 0;  ///< how far into documents the two then read
    };

    Swap best_swap(const std::vector<Rest>& much, const std::vector<Rest>& few, int64_t wanted) const {
        Swap best;
        for (size_t i = 0; i < much.size(); ++i) {
            for (size_t j = 0; j < few.size(); ++j) {
                const Rest &a = much[i], &b = few[j];
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
        Rest &a = ranks_[much][swap.from], &b = ranks_[few][swap.to];
        Rest end = a, beginning = b;
        end.begin = a.end = a.end - swap.tokens;
        beginning.end = b.begin = b.begin + swap.tokens;
        const int64_t moved =
            end.work(end.begin, end.end, mask_) - beginning.work(beginning.begin, beginning.end, mask_);
        work_[much] -= moved;
        work_[few] += moved;
        ranks_[much].push_back(beginning);
        ranks_[few].push_back(end);
        for (const size_t rank : {much, few})
            std::erase_if(ranks_[rank], [](const Rest& part) { return part.size() == 0; });
        return true;
    }

    std::vector<std::vector<Rest>>& ranks_;
    const AttentionMask& mask_;
    std::vector<int64_t> work_;
    int64_t mean_ = 0;
};

Spans spans_of(std::vector<Rest> parts) {
    std::sort(parts.begin(), parts.end(), [](const Rest& a, const Rest& b) { return a.begin < b.begin; });
    Spans spans;
    for (const Rest& part : parts) append_span(spans, {part.begin, part.end});
    return spans;
}

}  // namespace

std::vector<Spans> balanced_spans(int64_t tokens, int ranks, const AttentionMask& mask) {
    Balancer balancer(tokens, mask);
    std::vector<std::vector<Rest>> parts;
    for (int rank = 0; rank < ranks; ++rank) parts.push_back(balancer.fill(ranks - rank));
    Leveller(parts, mask).level();
    std::vector<Spans> spans;
    for (std::vector<Rest>& of_rank : parts) spans.push_back(spans_of(std::move(of_rank)));
    return spans;
}

}  // namespace ringmaster
