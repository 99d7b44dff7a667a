#include "engine/layout/balanced_pairs.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ringmaster {

namespace {

/// Redistributes the parts of two ranks, with one cut, so that they read fewer keys: tries which of the
/// longest parts go to which rank and which part is cut. One rank takes [begin, end) of the cut part, the
/// other the rest before and after it; together they then read `end` keys of it.
class Divider {
  public:
    Divider(std::vector<DocumentPart>& a, std::vector<DocumentPart>& b, const AttentionMask& mask,
            int64_t most_work)
        : ranks_{&a, &b}, mask_(mask), most_work_(most_work) {}

    /// Returns whether the two ranks now read fewer keys. Subtracts its number of tries from `steps`.
    bool divide(int64_t& steps) {
        if (steps <= 0) return false;
        const int64_t before = received_keys(*ranks_[0], mask_) + received_keys(*ranks_[1], mask_);
        if (before == 0) return false;
        gather();
        int64_t alone = 0;  // keys that are read however the parts are divided
        for (const DocumentPart& part : parts_) alone += received_keys({part}, mask_);
        best_.end = before - alone;  // a larger value would gain nothing
        if (best_.end <= 0) return false;
        for (cut_ = 0; cut_ < free_; ++cut_) assign(0, steps);
        if (best_.owners.empty()) return false;
        std::vector<DocumentPart> divided[2];
        apply(divided);
        if (received_keys(divided[0], mask_) + received_keys(divided[1], mask_) >= before) return false;
        *ranks_[0] = divided[0];
        *ranks_[1] = divided[1];
        return true;
    }

  private:
    static constexpr size_t kMostFree = 10;  ///< 2^9 assignments for each part that may be cut

    struct Division {
        std::vector<int> owners;  ///< owner of each part
        size_t cut = 0;
        int64_t begin = 0, end = 0;  ///< range of the cut part that rank 0 takes
    };

    /// Collects both ranks' parts, longest first and joined if adjacent; the shortest ones keep their rank.
    void gather() {
        std::vector<std::pair<DocumentPart, int>> all;
        for (int rank : {0, 1}) {
            for (const DocumentPart& part : *ranks_[rank]) all.push_back({part, rank});
        }
        std::sort(all.begin(), all.end(),
                  [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
        std::vector<std::pair<DocumentPart, int>> joined;
        for (const auto& [part, rank] : all) {
            tokens_[rank] += part.size();
            const bool touches = !joined.empty() && joined.back().first.end == part.begin &&
                                 joined.back().first.document == part.document;
            if (touches) {
                joined.back().first.end = part.end;
            } else {
                joined.push_back({part, rank});
            }
        }
        std::stable_sort(joined.begin(), joined.end(),
                         [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
        free_ = std::min(joined.size(), kMostFree);
        for (const auto& [part, rank] : joined) {
            const int64_t work = part.work(part.begin, part.end, mask_);
            if (parts_.size() >= free_) {
                tokens_[rank] -= part.size();
                placed_[rank] += work;
            }
            parts_.push_back(part);
            works_.push_back(work);
            owners_.push_back(rank);
        }
    }

    void assign(size_t at, int64_t& steps) {
        if (at == free_) return cut();
        if (at == cut_) return assign(at + 1, steps);
        if (steps <= 0) return;
        --steps;
        for (const int rank : {0, 1}) {
            tokens_[rank] -= parts_[at].size();
            placed_[rank] += works_[at];
            owners_[at] = rank;
            if (tokens_[rank] >= 0 && placed_[rank] <= most_work_) assign(at + 1, steps);
            tokens_[rank] += parts_[at].size();
            placed_[rank] -= works_[at];
        }
    }

    void cut() {
        const DocumentPart& part = parts_[cut_];
        const int64_t tokens = tokens_[0];
        if (tokens < 0 || tokens > part.size() || tokens >= best_.end) return;
        const int64_t least_work = works_[cut_] + placed_[1] - most_work_;
        const auto work = [&](int64_t end) {
            return part.work(part.begin + end - tokens, part.begin + end, mask_);
        };
        const int64_t end = tokens + least(part.size() - tokens,
                                           [&](int64_t begin) { return work(begin + tokens) >= least_work; });
        if (end >= best_.end || work(end) < least_work || work(end) + placed_[0] > most_work_) return;
        best_ = {owners_, cut_, part.begin + end - tokens, end};
    }

    void apply(std::vector<DocumentPart> (&divided)[2]) const {
        for (size_t i = 0; i < parts_.size(); ++i) {
            if (i != best_.cut) divided[best_.owners[i]].push_back(parts_[i]);
        }
        const DocumentPart& part = parts_[best_.cut];
        const auto give = [&](int rank, int64_t begin, int64_t end) {
            if (begin < end) divided[rank].push_back({begin, end, part.document, part.is_padding});
        };
        give(0, best_.begin, part.begin + best_.end);
        give(1, part.begin, best_.begin);
        give(1, part.begin + best_.end, part.end);
    }

    std::vector<DocumentPart>* ranks_[2];
    const AttentionMask& mask_;
    int64_t most_work_;                ///< upper bound for one rank
    std::vector<DocumentPart> parts_;  ///< the first `free_` parts are redistributed
    std::vector<int64_t> works_;
    size_t free_ = 0;
    size_t cut_ = 0;
    std::vector<int> owners_;
    int64_t tokens_[2] = {};  ///< tokens that each rank still lacks
    int64_t placed_[2] = {};  ///< work that each rank already has
    Division best_;
};

/// Returns the pairs of ranks that hold neighbouring tokens of one document.
std::set<std::pair<size_t, size_t>> neighbours(const std::vector<std::vector<DocumentPart>>& ranks) {
    std::vector<std::pair<DocumentPart, size_t>> all;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        for (const DocumentPart& part : ranks[rank]) all.push_back({part, rank});
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
    std::set<std::pair<size_t, size_t>> pairs;
    for (size_t i = 1; i < all.size(); ++i) {
        const auto& [before, a] = all[i - 1];
        const auto& [behind, b] = all[i];
        if (a != b && before.document == behind.document) pairs.insert(std::minmax(a, b));
    }
    return pairs;
}

}  // namespace

void divide_pairs(std::vector<std::vector<DocumentPart>>& ranks, const AttentionMask& mask,
                  int64_t most_work) {
    int64_t steps = 1 << 15;
    for (std::vector<bool> changed(ranks.size(), true);
         std::count(changed.begin(), changed.end(), true) > 0;) {
        std::vector<bool> changes(ranks.size());
        for (const auto& [a, b] : neighbours(ranks)) {
            if (!changed[a] && !changed[b]) continue;
            if (Divider(ranks[a], ranks[b], mask, most_work).divide(steps)) changes[a] = changes[b] = true;
        }
        changed = changes;
    }
}

}  // namespace ringmaster
