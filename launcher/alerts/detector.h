/// Finds alerts in a run's events, read once from the first to the newest. It reads no file and no clock.
///
/// All rules compare with medians, and measure noise by the median distance from them (MAD), so that neither
/// noise nor an earlier outlier raises an alert:
///
///     nan        The loss is NaN or infinite.
///     spike      Compared with the last 50 losses, of which there are at least 30: one loss is above their
///                median by 8 deviations and 50 %, or two of three by 6 deviations and 20 %.
///     stall      In training: no event is written for max(60 s, 10 × the median step). In other phases, for
///                example loading and evaluation, and before 5 steps have finished: for 30 minutes.
///     plateau    Takes the median of every 50 losses. Once there are 20 medians, compares the last quarter
///                of them (at least 10) with the quarter before: the loss fell by less than 0.5 %, even with
///                2 standard errors added. No alert if noise could hide such a fall, or if the learning rate
///                is below a fifth of its peak.
///     slow_rank  In two checks 10 steps apart, each over the last 20 steps: the others wait for the same
///                rank for at least 15 % of a step (robust.h).
///
/// The same kind of alert is not repeated within 10 minutes or, unless it is a stall, within 100 steps. A
/// slow rank is reported again only after it has recovered, a plateau only after the loss has fallen, NaN
/// only after a finite loss. If a different rank becomes slow, the alert is not delayed. A run raises at most
/// 200 alerts.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/events/event.h"
#include "launcher/alerts/alert.h"
#include "launcher/alerts/robust.h"

namespace ringmaster {

/// Holds the numbers of one rank's step that the rules read.
struct RankStep {
    int rank = 0;
    int64_t step = 0;
    double t = 0, loss = 0, lr = 0, step_s = 0, wait_s = 0;
};

class AlertDetector {
  public:
    /// Reads the events of `ranks` ranks, numbered from 0.
    explicit AlertDetector(int ranks = 0) : ranks_(ranks) {}

    void set_ranks(int ranks) { ranks_ = ranks; }
    /// Starts an attempt after `start_step` completed steps; later steps that were seen before no longer
    /// count.
    void begin(int64_t start_step, double t);
    void phase(const std::string& name, double t);  ///< rank 0 entered a phase; "train" means training
    void heard(double t);                           ///< a line of any kind was written at this time
    void step(const RankStep& step);                ///< pass each rank's steps in ascending order
    void take(const EventLine& line);               ///< passes an event to the functions above
    /// Looks for a stall at the time `now`; call it while the run's state is running.
    void look(double now);

    /// Returns the alerts since the last call.
    std::vector<Alert> take_alerts() { return std::exchange(alerts_, {}); }

  private:
    void judge(const RankStep& step);
    void judge_gap(const RankStep& step);
    void judge_loss(const RankStep& step);
    void judge_plateau(const RankStep& step);
    void judge_waits(const std::vector<RankStep>& row);
    double longest_silence() const;
    std::optional<int> behind() const;
    bool add(const Alert& alert);

    int ranks_ = 0;
    int64_t last_step_ = 0;                          ///< last step of rank 0
    int64_t last_row_ = 0;                           ///< last step that every rank finished
    std::map<int64_t, std::vector<RankStep>> rows_;  ///< steps that not every rank has finished
    std::map<int, int64_t> reached_;                 ///< last step of each rank

    RecentValues losses_{50};  ///< the last finite losses
    /// For each of the last losses, whether it was far above the median.
    std::deque<bool> above_;
    std::vector<double> block_, blocks_;  ///< losses since the last median; medians of 50 steps each
    double highest_lr_ = 0;
    std::optional<double> flat_at_;              ///< loss of the plateau that was reported
    RecentValues seconds_{100};                  ///< the last step times
    std::map<int, std::deque<RankWait>> waits_;  ///< each rank's last steps
    /// Slow rank of the last comparison, and the slow rank that was reported.
    std::optional<int> suspect_, slow_;
    double heard_ = 0;
    bool trains_ = true;
    /// True once the run's silence (silent_) or its NaN losses (broken_) have been reported.
    bool silent_ = false, broken_ = false;

    struct Last {
        double t = 0;
        int64_t step = 0;
    };
    std::array<std::optional<Last>, kAlertKinds.size()> last_;
    int count_ = 0;
    std::vector<Alert> alerts_;
};

}  // namespace ringmaster
