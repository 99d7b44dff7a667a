// Compares advantages and their figures with those that TRL computed from the same rewards
// (tests/oracles/trl_advantages.json, in float32).
#include "engine/train/advantages.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/config/words.h"

namespace ringmaster {
namespace {

using nlohmann::json;

std::optional<double> number(const json& value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

void expect_near(const std::optional<double>& own, const json& expected) {
    ASSERT_EQ(own.has_value(), !expected.is_null());
    if (!own) return;
    EXPECT_NEAR(*own, expected.get<double>(), 1e-5 * std::max(1.0, std::abs(*own)));
}

SamplingRule rule_of(const json& one) {
    const std::string scale = one["scale"];
    SamplingRule rule;
    rule.generations = 4;
    rule.by_function = scale == "by_function";
    if (!rule.by_function) rule.scale = from_word<RewardScale>(scale).value();
    rule.weights = one["weights"].get<std::vector<double>>();
    return rule;
}

Rewards rewards_of(const json& one) {
    Rewards rewards(one["rewards"][0].size());
    for (const json& of_function : one["rewards"]) {
        for (size_t i = 0; i < rewards.size(); ++i) rewards[i].push_back(number(of_function[i]));
    }
    return rewards;
}

TEST(Advantages, AreThoseOfTrl) {
    std::ifstream file(RINGMASTER_TEST_ORACLES "/trl_advantages.json");
    const json cases = json::parse(file);
    ASSERT_EQ(cases.size(), 32u);
    for (const json& one : cases) {
        SCOPED_TRACE(one["name"].get<std::string>() + " " + one["scale"].get<std::string>());
        const Advantages own = advantages_of(rule_of(one), rewards_of(one));
        ASSERT_EQ(own.of_completions.size(), one["advantages"].size());
        // TRL computes in float32: if the spread is far smaller than the rewards, the division by it
        // magnifies its rounding error, so the comparison needs a tolerance.
        for (size_t i = 0; i < own.of_completions.size(); ++i)
            expect_near(own.of_completions[i], one["advantages"][i]);
        expect_near(own.weighted.mean, one["reward"]);
        expect_near(own.weighted.spread, one["reward_std"]);
        expect_near(own.even_share, one["even_share"]);
        for (size_t f = 0; f < 2; ++f) {
            expect_near(own.of_functions[f].mean, one["means"][f]);
            expect_near(own.of_functions[f].spread, one["stds"][f]);
        }
    }
}

TEST(Advantages, OfNothingAreNothing) {
    SamplingRule rule;
    rule.weights = {1};
    for (const bool by_function : {false, true}) {
        rule.by_function = by_function;
        EXPECT_TRUE(advantages_of(rule, {}).of_completions.empty());
    }
}

}  // namespace
}  // namespace ringmaster
