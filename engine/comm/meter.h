/// What communication cost: bytes sent, time in flight, and the part of it that computation did not hide.
///
/// In flight is the union of the intervals between a transfer's start and its completion (transfers that overlap count
/// once); exposed is the time that computation stood still in `Transfer::wait`. Nothing is synchronised to measure it.
#pragma once

#include <cstdint>

namespace ringmaster {

struct CommTotals {
    double in_flight_s = 0;
    double exposed_s = 0;
    int64_t sent_bytes = 0;
};

}  // namespace ringmaster
