#include "launcher/alerts/alert.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/percent.h"

namespace ringmaster {

namespace {

std::string number(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

nlohmann::json finite(double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace

const char* to_string(AlertKind kind) {
    constexpr const char* kNames[] = {"nan", "spike", "stall", "plateau", "slow_rank", "failed", "completed"};
    return kNames[static_cast<size_t>(kind)];
}

std::optional<AlertKind> alert_kind(std::string_view name) {
    for (const AlertKind kind : kAlertKinds) {
        if (name == to_string(kind)) return kind;
    }
    return std::nullopt;
}

std::string text_of(const Alert& alert) {
    const std::string step = std::to_string(alert.step);
    switch (alert.kind) {
        case AlertKind::NotANumber:
            return "The loss is not a number at step " + step + ".";
        case AlertKind::Spike:
            return "The loss jumped at step " + step + ": " + number("%.4g", alert.value) + ", usually " +
                   number("%.4g", alert.usual) + ".";
        case AlertKind::Stall:
            return "Nothing was heard for " + number("%.0f", alert.value) + " s after step " + step +
                   (alert.rank ? "; rank " + std::to_string(*alert.rank) + " is behind." : ".");
        case AlertKind::Plateau:
            return "The loss has not fallen for " + std::to_string(alert.steps) +
                   " steps: " + number("%.4g", alert.value) + " at step " + step + ".";
        case AlertKind::SlowRank:
            return "Rank " + std::to_string(alert.rank.value_or(0)) + " is slow at step " + step +
                   ": the others wait " + percent(alert.value, 0) + " of a step for it.";
        case AlertKind::Failed:
            return "The run ended after step " + step + ", before it was complete.";
        case AlertKind::Completed:
            return "The run is complete: step " + step + " was its last.";
    }
    return {};
}

nlohmann::json to_json(const Alert& alert) {
    return {{"type", "alert"},
            {"t", alert.t},
            {"rank", alert.rank ? nlohmann::json(*alert.rank) : nlohmann::json(nullptr)},
            {"step", alert.step},
            {"kind", to_string(alert.kind)},
            {"value", finite(alert.value)},
            {"usual", finite(alert.usual)},
            {"message", text_of(alert)}};
}

}  // namespace ringmaster
