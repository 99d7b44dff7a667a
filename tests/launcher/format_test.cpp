#include "launcher/base/format.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ringmaster {

namespace {

TEST(Format, CountsAreGrouped) {
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(1000), "1,000");
    EXPECT_EQ(format_count(1048576), "1,048,576");
    EXPECT_EQ(format_count(-1000), "-1,000");
    EXPECT_EQ(format_count(-100), "-100");
}

TEST(Format, BytesKeepTheirPlaceAtEachUnit) {
    constexpr int64_t kMiB = 1 << 20, kGiB = 1 << 30;
    EXPECT_EQ(format_bytes(0), "0 B");
    EXPECT_EQ(format_bytes(2048), "2 KiB");
    EXPECT_EQ(format_bytes(kMiB), "1.0 MiB");
    EXPECT_EQ(format_bytes(812 * kMiB), "812 MiB");
    EXPECT_EQ(format_bytes(kGiB - 1), "1.0 GiB");
    EXPECT_EQ(format_bytes(80 * kGiB), "80.0 GiB");
    EXPECT_EQ(format_bytes(1229 * kGiB), "1229 GiB");
}

TEST(Format, DurationsAreReadAtAGlance) {
    EXPECT_EQ(format_duration(0.0004), "400 µs");
    EXPECT_EQ(format_duration(0.0412), "41 ms");
    EXPECT_EQ(format_duration(0.412), "0.41 s");
    EXPECT_EQ(format_duration(59.7), "1 min 00 s");
    EXPECT_EQ(format_duration(100), "1 min 40 s");
    EXPECT_EQ(format_duration(28.9 * 3600), "1 d 5 h");
    EXPECT_EQ(format_duration(11159), "3 h 06 min");
    EXPECT_EQ(format_duration(86399), "1 d 0 h");
    EXPECT_EQ(format_duration(3600 + 300), "1 h 05 min");
    EXPECT_EQ(format_duration(2.2 * 86400), "2 d 5 h");
    EXPECT_EQ(format_duration(NAN), "?");
}

TEST(Format, SharesAndRates) {
    EXPECT_EQ(format_percent(0.061), "6.1 %");
    EXPECT_EQ(format_percent(0.52), "52 %");
    EXPECT_EQ(format_rate(812.4), "812");
    EXPECT_EQ(format_rate(19800), "19.8k");
    EXPECT_EQ(format_rate(1.2e6), "1.2M");
}

}  // namespace

}  // namespace ringmaster
