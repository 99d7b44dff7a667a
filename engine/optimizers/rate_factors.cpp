#include "engine/optimizers/rate_factors.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ringmaster {

double RatePoint::progress() const {
    return (at - warmup) / std::max(1.0, total - warmup);
}

namespace {

constexpr double kPi = std::numbers::pi;

double argument(const Config& config, const char* name, double otherwise) {
    return config.lr_scheduler_kwargs.value(name, otherwise);
}

double waves(const Config& config, double progress) {
    return 0.5 * (1 + std::cos(kPi * argument(config, "num_cycles", 0.5) * 2 * progress));
}

// The following functions come from transformers, optimization.py.
double linear(const Config&, const RatePoint& p) {
    return std::max(0.0, (p.total - p.at) / std::max(1.0, p.total - p.warmup));
}

double constant(const Config&, const RatePoint&) {
    return 1;
}

double cosine_with_restarts(const Config& config, const RatePoint& p) {
    if (p.progress() >= 1) return 0;
    const double turn = std::fmod(argument(config, "num_cycles", 1) * p.progress(), 1.0);
    return std::max(0.0, 0.5 * (1 + std::cos(kPi * turn)));
}

double polynomial(const Config& config, const RatePoint& p) {
    const double end = argument(config, "lr_end", 1e-7), rate = config.learning_rate;
    if (p.at > p.total) return end / rate;
    const double left = 1 - (p.at - p.warmup) / (p.total - p.warmup);
    return ((rate - end) * std::pow(left, argument(config, "power", 1)) + end) / rate;
}

double inverse_sqrt(const Config& config, const RatePoint& p) {
    const double scale = argument(config, "timescale", p.warmup > 0 ? p.warmup : 10'000);
    return 1 / std::sqrt((p.at + scale - p.warmup) / scale);
}

double least(const Config& config) {
    if (config.lr_scheduler_kwargs.contains("min_lr"))
        return argument(config, "min_lr", 0) / config.learning_rate;
    return argument(config, "min_lr_rate", 0);
}

double above(double factor, double lowest) {
    return std::max(0.0, factor * (1 - lowest) + lowest);
}

double cosine_with_min_lr(const Config& config, const RatePoint& p) {
    return above(waves(config, p.progress()), least(config));
}

double cosine_warmup_with_min_lr(const Config& config, const RatePoint& p) {
    if (p.at >= p.warmup)
        return above(waves(config, (p.at - p.warmup + 1) / std::max(1.0, p.total - p.warmup)), least(config));
    if (!config.lr_scheduler_kwargs.contains("warmup_lr_rate")) return (p.at + 1) / std::max(1.0, p.warmup);
    const double first = argument(config, "warmup_lr_rate", 0);
    return first + (1 - first) * p.at / std::max(1.0, p.warmup - 1);
}

/// Returns the factor, from 0 to 1, that a warmup or decay of type `type` has reached at `progress`.
double staged(const std::string& type, double progress, double cosine) {
    return type == "linear" ? progress : type == "cosine" ? cosine : 1 - std::sqrt(1 - progress);
}

double warmup_stable_decay(const Config& config, const RatePoint& p) {
    const nlohmann::json& said = config.lr_scheduler_kwargs;
    const double lowest = argument(config, "min_lr_ratio", 0), decay = argument(config, "num_decay_steps", 0);
    const double stable = argument(config, "num_stable_steps", p.total - p.warmup - decay);
    if (p.at < p.warmup) {
        const double done = p.at / std::max(1.0, p.warmup);
        return above(staged(said.value("warmup_type", "linear"), done, 0.5 * (1 - std::cos(kPi * done))),
                     lowest);
    }
    if (p.at < p.warmup + stable) return 1;
    if (p.at >= p.warmup + stable + decay) return lowest;
    const double done = (p.at - p.warmup - stable) / std::max(1.0, decay);
    const std::string type = said.value("decay_type", "cosine");
    const double left = type == "1-sqrt" ? 1 - std::sqrt(done) : staged(type, 1 - done, waves(config, done));
    return above(left, lowest);
}

/// Computes transformers' cosine. If cosine_min_lr_ratio is above 0 and lr_quadratic_warmup is off, computes
/// axolotl's (utils/schedulers.py), with or without cosine_constant_lr_ratio.
double cosine(const Config& config, const RatePoint& p) {
    if (config.lr_quadratic_warmup || config.cosine_min_lr_ratio.value_or(0) == 0)
        return std::max(0.0, waves(config, p.progress()));
    const double lowest = *config.cosine_min_lr_ratio;
    if (config.cosine_constant_lr_ratio.value_or(0) == 0)
        return (1 - lowest) * waves(config, p.progress()) + lowest;
    const double end = std::floor(p.total * *config.cosine_constant_lr_ratio);
    const RatePoint until{std::min(p.at, end), p.warmup, end};
    return std::max(0.0, (1 - lowest) * waves(config, until.progress())) + lowest;
}

/// Computes axolotl's rex (utils/schedulers.py; Chen et al. 2021, "REX: Revisiting Budgeted Training with an
/// Improved Schedule"), in which the first step counts as 1.
double rex(const Config& config, const RatePoint& p) {
    const double lowest = config.cosine_min_lr_ratio.value_or(0), step = p.at + 1;
    if (step <= p.warmup) return step / p.warmup;
    const double after = step - p.warmup, rest = p.total - p.warmup;
    if (after >= rest) return lowest;
    const double left = (rest - after) / rest;
    return lowest + (1 - lowest) * (left / (0.1 + 0.9 * left));
}

/// Computes torch.optim.lr_scheduler.OneCycleLR; axolotl passes the warmup to it as pct_start.
double one_cycle(const Config& config, const RatePoint& p) {
    const double start = 1 / argument(config, "div_factor", 25);
    const double end = start / argument(config, "final_div_factor", 1e4);
    const double top = argument(config, "pct_start", p.warmup / p.total) * p.total - 1;
    const bool rises = p.at <= top;
    const double from = rises ? start : 1, to = rises ? 1 : end;
    const double begin = rises ? 0 : top, length = rises ? top : p.total - 1 - top;
    const double done = length == 0 ? 1 : (p.at - begin) / length;
    if (config.lr_scheduler_kwargs.value("anneal_strategy", "cos") == "linear")
        return (to - from) * done + from;
    return to + (from - to) / 2 * (std::cos(kPi * done) + 1);
}

struct Schedule {
    LrScheduler scheduler;
    double (*factor)(const Config&, const RatePoint&);
    bool warms_up;  ///< true if a linear warmup from 0 precedes this schedule
};

constexpr Schedule kSchedules[] = {
    {LrScheduler::Linear, linear, true},
    {LrScheduler::Cosine, cosine, true},
    {LrScheduler::Constant, constant, false},
    {LrScheduler::ConstantWithWarmup, constant, true},
    {LrScheduler::CosineWithRestarts, cosine_with_restarts, true},
    {LrScheduler::Polynomial, polynomial, true},
    {LrScheduler::InverseSqrt, inverse_sqrt, true},
    {LrScheduler::CosineWithMinLr, cosine_with_min_lr, true},
    {LrScheduler::CosineWarmupWithMinLr, cosine_warmup_with_min_lr, false},
    {LrScheduler::WarmupStableDecay, warmup_stable_decay, false},
    {LrScheduler::Rex, rex, false},
    {LrScheduler::OneCycle, one_cycle, false},
};

}  // namespace

double rate_factor(const Config& config, const RatePoint& point) {
    const Schedule& schedule =
        *std::find_if(std::begin(kSchedules), std::end(kSchedules),
                      [&](const Schedule& s) { return s.scheduler == config.lr_scheduler; });
    if (!schedule.warms_up || point.at >= point.warmup) return schedule.factor(config, point);
    const double done = point.at / std::max(1.0, point.warmup);
    return config.lr_scheduler == LrScheduler::Cosine && config.lr_quadratic_warmup ? done * done : done;
}

}  // namespace ringmaster
