/// Makes plans from YAML text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "engine/config/read_config.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"

namespace ringmaster {

/// Returns a launchable config of a known model, with `more` appended.
inline std::string config_text(const std::string& more,
                               const std::string& model = "meta-llama/Llama-3-8B-Instruct") {
    return "base_model: " + model +
           "\ndatasets:\n  - path: someone/rows\n    type: alpaca\n"
           "output_dir: /tmp/out\nlearning_rate: 0.0001\nattn_implementation: flash_attention_2\n"
           "bf16: true\n" +
           more;
}

inline Plan plan_text(const std::string& text, int ranks, PlanRequest request = {}) {
    if (ranks > 0) request.ranks = ranks;
    if (!request.device_memory_bytes) request.device_memory_bytes = int64_t{1} << 46;
    return make_plan(read_config_text(text, "/tmp/ringmaster/config.yaml"), request);
}

inline Plan plan_of(const std::string& more, int ranks, PlanRequest request = {}) {
    return plan_text(config_text(more), ranks, request);
}

inline const Diagnostic* find(const Plan& plan, const std::string& code) {
    for (const Diagnostic& diagnostic : plan.diagnostics) {
        if (diagnostic.code == code) return &diagnostic;
    }
    return nullptr;
}

/// Returns all diagnostics, for the message of a failed expectation.
inline std::string said(const Plan& plan) {
    std::string text;
    for (const Diagnostic& d : plan.diagnostics) {
        text += std::string(to_string(d.severity)) + " " + d.code + " " + d.key + ":" +
                std::to_string(d.line) + " " + d.message + " | " + d.hint + "\n";
    }
    return text;
}

}  // namespace ringmaster
