/// Reads config.json files that tests write as JSON.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "engine/error.h"
#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns a small model of the type, without the fields that only some families have.
inline nlohmann::json small(const std::string& type) {
    return {{"model_type", type},       {"hidden_size", 64},        {"num_hidden_layers", 2},
            {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"intermediate_size", 96},
            {"vocab_size", 100}};
}

inline ModelConfig read(const nlohmann::json& values) {
    return model_config_from_json(values, "config.json");
}

/// Returns the text of the error that reading throws, or "accepted".
inline std::string refusal(const nlohmann::json& values) {
    try {
        read(values);
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Refused);
        return error.text();
    }
    return "accepted";
}

}  // namespace ringmaster
