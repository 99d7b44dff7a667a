#include "engine/attention/ring_schedule.h"

namespace ringmaster {

std::vector<RingHop> make_ring_schedule(const std::vector<Spans>& spans, int rank) {
    const int ranks = static_cast<int>(spans.size());
    auto of = [&](int r) -> const Spans& { return spans[static_cast<size_t>((r + 2 * ranks) % ranks)]; };
    auto goes_on = [&](int holder, int hop) {
        for (int step = 1; step < ranks - hop; ++step) {
            if (!make_slices(of(holder + step), of(holder - hop)).empty()) return true;
        }
        return false;
    };
    std::vector<RingHop> hops;
    for (int h = 0; h < ranks; ++h) {
        RingHop hop;
        hop.source = (rank - h + ranks) % ranks;
        hop.keys = count_tokens(of(hop.source));
        hop.slices = make_slices(of(rank), of(hop.source));
        hop.sends_on = goes_on(rank, h);
        hop.receives_next = h + 1 < ranks && goes_on(rank - 1, h);
        hops.push_back(std::move(hop));
    }
    return hops;
}

}  // namespace ringmaster
