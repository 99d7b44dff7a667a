/// Defines an alert: a warning that a run needs a user's attention. An alert says what happened, at which
/// step, and which rank it is about. Readers derive alerts from a run's events (detector.h), so that all of
/// them find the same alerts. Alerts about a run's end are derived from its state, and are sent only to the
/// webhook and the command (launcher/agent/alerts.h).
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ringmaster {

enum class AlertKind {
    NotANumber,  ///< the loss is NaN or infinite
    Spike,       ///< the loss jumped far above its recent median
    Stall,       ///< no event for far longer than a step takes
    Plateau,     ///< the loss no longer falls by more than its noise
    SlowRank,    ///< the other ranks wait for this rank
    Failed,      ///< the run ended before its last step, although nobody stopped it
    Completed,   ///< the run completed its last step
};
inline constexpr std::array kAlertKinds = {AlertKind::NotANumber, AlertKind::Spike,    AlertKind::Stall,
                                           AlertKind::Plateau,    AlertKind::SlowRank, AlertKind::Failed,
                                           AlertKind::Completed};

/// Returns "nan", "spike", "stall", "plateau", "slow_rank", "failed" or "completed".
const char* to_string(AlertKind kind);
std::optional<AlertKind> alert_kind(std::string_view name);

struct Alert {
    AlertKind kind = AlertKind::Spike;
    double t = 0;      ///< Unix seconds
    int64_t step = 0;  ///< step at which the alert was found; for a stall, the last step before it
    std::optional<int> rank = {};  ///< the slow rank, or the rank that is behind in a stall
    double value = 0;   ///< Spike, Plateau: the loss. Stall: seconds of silence. SlowRank: share of a step.
    double usual = 0;   ///< Spike: the recent median
    int64_t steps = 0;  ///< Plateau: steps without progress. SlowRank: steps that were compared

    bool operator==(const Alert&) const = default;
};

/// Returns one English sentence, which contains numbers but no text from the run.
std::string text_of(const Alert& alert);

/// Returns {"type":"alert","t","rank","step","kind","value","usual","message"}; `rank` is null if the alert
/// is not about one rank, and a number that is not finite is null.
nlohmann::json to_json(const Alert& alert);

}  // namespace ringmaster
