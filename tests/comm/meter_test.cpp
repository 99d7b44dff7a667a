#include "engine/comm/meter.h"

#include <gtest/gtest.h>

namespace ringmaster {
namespace {

Meter::Clock::time_point at(int milliseconds) {
    return Meter::Clock::time_point() + std::chrono::milliseconds(milliseconds);
}

TEST(Meter, CountsTransfersThatOverlapOnce) {
    Meter meter;
    meter.begin(at(0));
    meter.begin(at(10));
    meter.end(at(30));
    meter.end(at(40));
    meter.begin(at(100));
    meter.end(at(105));
    EXPECT_DOUBLE_EQ(meter.take(at(200)).in_flight_s, 0.045);
}

TEST(Meter, SplitsWhatIsInFlightBetweenTwoReadings) {
    Meter meter;
    meter.begin(at(0));
    EXPECT_DOUBLE_EQ(meter.take(at(20)).in_flight_s, 0.020);
    meter.end(at(50));
    EXPECT_DOUBLE_EQ(meter.take(at(90)).in_flight_s, 0.030);
    EXPECT_DOUBLE_EQ(meter.take(at(99)).in_flight_s, 0);
}

TEST(Meter, ForgetsWhatItHasTold) {
    Meter meter;
    meter.exposed(0.5);
    meter.sent(7);
    const CommTotals totals = meter.take(at(0));
    EXPECT_EQ(totals.exposed_s, 0.5);
    EXPECT_EQ(totals.sent_bytes, 7);
    EXPECT_EQ(meter.take(at(0)).sent_bytes, 0);
}

TEST(Meter, MeasuresTheUnionOfIntervals) {
    EXPECT_EQ(union_length({}), 0);
    EXPECT_EQ(union_length({{3, 5}}), 2);
    EXPECT_EQ(union_length({{4, 6}, {1, 2}, {5, 9}, {5, 6}}), 6);
}

}  // namespace
}  // namespace ringmaster
