// Tests that every key listed as used changes what the engine receives or what is reported, so that no key is
// accepted without effect.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/config/document.h"
#include "engine/config/key_table.h"
#include "engine/config/samples.h"
#include "engine/config/trackers.h"
#include "tests/config/key_samples.h"

namespace ringmaster {
namespace {

/// Returns the parts of RUN/tracking/settings.json and RUN/samples.json that the keys decide.
std::string settings_outside_plan(const std::string& text) {
    Document document;
    Diagnostics said;
    read_document(text, document, said);
    const RequestedTrackers wish = requested_trackers(document.values);
    return nlohmann::json{wish.names, wish.keys, requested_samples(document.values)}.dump();
}

/// Returns everything that the keys decide for a run, without the file's name and lines.
std::string outcome(const ConfigReading& reading, const std::string& text) {
    nlohmann::json config = config_to_json(reading.config);
    config.erase("lines");
    config.erase("file");
    return config.dump() + settings_outside_plan(text);
}

/// Returns whether the two values of a key have different outcomes.
bool has_effect(const Sample& sample) {
    const std::string one = text_of(sample, sample.one), other = text_of(sample, sample.other);
    const ConfigReading first = read_more(one), second = read_more(other);
    if (is_refused(first, sample) || is_refused(second, sample))
        return sample.refusal_counts && is_refused(first, sample) != is_refused(second, sample);
    return outcome(first, one) != outcome(second, other);
}

TEST(UsedKeys, EachChangesWhatTheRunIsTold) {
    int used = 0;
    for (const std::string& key : known_keys()) {
        if (find_key(key)->fate != Fate::Used || key == "strict") continue;  // keys_test.cpp tests strict
        ++used;
        EXPECT_TRUE(some_values_have(key, has_effect)) << key;
    }
    EXPECT_GE(used, 100);
}

}  // namespace
}  // namespace ringmaster
