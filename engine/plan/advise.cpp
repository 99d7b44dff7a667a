#include "engine/plan/advise.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/config/document.h"
#include "engine/plan/findings.h"
#include "engine/plan/layout.h"
#include "engine/plan/step_time.h"

namespace ringmaster {

namespace {

constexpr RingAttnFunc kLayouts[] = {RingAttnFunc::BatchRing,   RingAttnFunc::BatchZigzag,
                                     RingAttnFunc::BatchStripe, RingAttnFunc::VarlenLlama3,
                                     RingAttnFunc::VarlenRing,  RingAttnFunc::VarlenZigzag,
                                     RingAttnFunc::Balanced};

/// One point of what can be chosen.
struct Choice {
    int64_t context = 1;
    int64_t ulysses = 1;
    RingAttnFunc func = RingAttnFunc::Default;  ///< as the file says
    bool checkpointing = false;

    int64_t ring() const { return context / ulysses; }
};

bool blames(const Plan& plan, std::string_view key) {
    return std::any_of(plan.diagnostics.begin(), plan.diagnostics.end(), [&](const Diagnostic& said) {
        return said.severity == Severity::Error && said.key == key;
    });
}

/// What plans are made of here: without the diagnostics that repeat, and without counting rows again.
ConfigReading lean(const ConfigReading& reading) {
    ConfigReading copy;
    copy.readable = reading.readable;
    copy.config = reading.config;
    for (const Diagnostic& said : reading.diagnostics) {
        if (said.severity == Severity::Error) copy.diagnostics.push_back(said);
    }
    return copy;
}

/// Lower is better.
int class_of(Verdict verdict) {
    return verdict == Verdict::WillNotFit ? 2 : verdict == Verdict::Tight ? 1 : 0;
}

bool is_better(const Alternative& a, const Alternative& b) {
    if (class_of(a.verdict) != class_of(b.verdict)) return class_of(a.verdict) < class_of(b.verdict);
    const bool none_fits = a.verdict == Verdict::WillNotFit;
    if (none_fits && a.memory_total != b.memory_total) return a.memory_total < b.memory_total;
    if (a.tokens_per_s != b.tokens_per_s) return a.tokens_per_s > b.tokens_per_s;
    return a.set.size() < b.set.size();
}

class Adviser {
  public:
    Adviser(const ConfigReading& reading, const PlanRequest& request, const Plan& present,
            std::stop_token stop)
        : reading_(lean(reading)), request_(request), present_(present), stop_(std::move(stop)) {
        request_.ranks = present.ranks;
        request_.nodes = present.nodes;
        request_.device = present.device;
        if (present.batch.rows) request_.rows = present.batch.rows;
    }

    std::vector<Alternative> alternatives() {
        if (!present_.model || !reading_.readable) return {};
        if (present_.ok()) as_it_is_ = alternative_of(present_, {});
        look_at_all();
        return ranked();
    }

    std::optional<int64_t> longest();

  private:
    using Settings = std::vector<std::pair<std::string, std::string>>;

    bool is_written(const char* key) const { return reading_.config.lines.count(key) > 0; }
    void look_at_all();
    void look_at(int context, const std::vector<RingAttnFunc>& layouts, bool heads);
    std::vector<RingAttnFunc> layouts_built(int64_t context);
    bool splits_heads(int64_t context);

    ConfigReading overridden(const Choice& choice, Settings& set) const;
    void override_data_parallel(const Choice& choice, Config& config, Settings& set) const;
    void override_batch(const Choice& choice, Config& config, Settings& set) const;
    std::optional<Alternative> consider(const Choice& choice) const;
    static std::optional<Alternative> alternative_of(const Plan& plan, const Settings& set);
    void explain(Alternative& plan) const;
    std::vector<Alternative> ranked();
    bool fits_with(int64_t length);

    ConfigReading reading_;
    PlanRequest request_;
    const Plan& present_;
    std::stop_token stop_;
    std::vector<Alternative> best_;  ///< of each context-parallel size
    std::optional<Alternative> as_it_is_;
};

// ------------------------------------------------------------------------------------- what to look at

std::vector<RingAttnFunc> Adviser::layouts_built(int64_t context) {
    std::vector<RingAttnFunc> built = {RingAttnFunc::Default};
    Choice choice{context, 1, RingAttnFunc::Default, present_.config.gradient_checkpointing};
    Settings ignored;
    const RingAttnFunc as_written = make_plan(overridden(choice, ignored), request_).context_parallel.layout;
    for (const RingAttnFunc func : kLayouts) {
        if (func == as_written) continue;
        choice.func = func;
        if (!blames(make_plan(overridden(choice, ignored), request_), "ring_attn_func"))
            built.push_back(func);
    }
    return built;
}

bool Adviser::splits_heads(int64_t context) {
    Settings ignored;
    const Choice choice{context, context, RingAttnFunc::Default, present_.config.gradient_checkpointing};
    const Plan plan = make_plan(overridden(choice, ignored), request_);
    return std::none_of(plan.diagnostics.begin(), plan.diagnostics.end(), [](const Diagnostic& said) {
        return said.severity == Severity::Error && said.key == "ulysses_size" &&
               said.code.starts_with("ENGINE-");
    });
}

/// One thing after the other, each with the best of those before: layouts, then ways to split heads, then
/// recomputing or not. All of them with all would be hundreds of plans.
void Adviser::look_at(int context, const std::vector<RingAttnFunc>& layouts, bool heads) {
    Choice best{context, 1, RingAttnFunc::Default, present_.config.gradient_checkpointing};
    std::optional<Alternative> found = consider(best);
    const auto try_other = [&](Choice choice) {
        if (stop_.stop_requested()) return;
        std::optional<Alternative> other = consider(choice);
        if (!other || (found && !is_better(*other, *found))) return;
        found = std::move(other);
        best = choice;
    };
    const auto with = [&](auto Choice::*part, auto value) {
        Choice choice = best;
        choice.*part = value;
        return choice;
    };
    for (const RingAttnFunc func : layouts) {
        if (context > 1 && func != RingAttnFunc::Default) try_other(with(&Choice::func, func));
    }
    for (const int ulysses : heads ? divisors(context) : std::vector<int>{}) {
        if (ulysses > 1) try_other(with(&Choice::ulysses, int64_t{ulysses}));
    }
    try_other(with(&Choice::checkpointing, !best.checkpointing));
    if (found && !found->is_present()) best_.push_back(*found);
}

void Adviser::look_at_all() {
    const std::vector<int> sizes = divisors(present_.ranks);
    const bool heads = sizes.size() > 1 && splits_heads(sizes[1]);
    const std::vector<RingAttnFunc> layouts =
        sizes.size() > 1 ? layouts_built(sizes[1]) : std::vector{RingAttnFunc::Default};
    for (const int context : sizes) {
        if (!stop_.stop_requested()) look_at(context, layouts, heads);
    }
}

// ------------------------------------------------------------ one point as plan

void Adviser::override_data_parallel(const Choice& choice, Config& config, Settings& set) const {
    const int64_t groups = present_.ranks / choice.context;
    if (config.dp_replicate_size > 1 && groups % config.dp_replicate_size != 0) {
        config.dp_replicate_size = std::gcd(groups, config.dp_replicate_size);
        set.emplace_back("dp_replicate_size", std::to_string(config.dp_replicate_size));
    }
    const int64_t shards = groups / std::max<int64_t>(1, config.dp_replicate_size);
    if (config.dp_shard_size == 0 || config.dp_shard_size == shards) return;
    config.dp_shard_size = shards;
    set.emplace_back("dp_shard_size", std::to_string(shards));
}

/// Micro-batch and accumulation that give the present global batch, or the nearest below it; each group has a
/// row at least.
void Adviser::override_batch(const Choice& choice, Config& config, Settings& set) const {
    const int64_t groups = present_.ranks / choice.context;
    const int64_t rows = std::max<int64_t>(1, present_.batch.global / groups);  // of one group in a step
    const int64_t micro = std::gcd(rows, config.micro_batch_size);
    const int64_t accumulation = rows / micro;
    if (micro != config.micro_batch_size) set.emplace_back("micro_batch_size", std::to_string(micro));
    const bool changes = accumulation != config.gradient_accumulation_steps;
    const bool product_changes = rows != config.micro_batch_size * config.gradient_accumulation_steps;
    if (is_written("batch_size") && product_changes) set.emplace_back("batch_size", std::to_string(rows));
    const bool implied = is_written("batch_size") && !is_written("gradient_accumulation_steps");
    if (changes && !implied) set.emplace_back("gradient_accumulation_steps", std::to_string(accumulation));
    config.micro_batch_size = micro;
    config.gradient_accumulation_steps = accumulation;
}

ConfigReading Adviser::overridden(const Choice& choice, Settings& set) const {
    ConfigReading reading = reading_;
    Config& config = reading.config;
    if (choice.context != std::max<int64_t>(1, config.context_parallel_size)) {
        config.context_parallel_size = choice.context;
        set.emplace_back("context_parallel_size", std::to_string(choice.context));
    }
    if (choice.ulysses != std::max<int64_t>(1, config.ulysses_size)) {
        config.ulysses_size = choice.ulysses;
        set.emplace_back("ulysses_size", std::to_string(choice.ulysses));
    }
    if (choice.func != RingAttnFunc::Default) {
        config.ring_attn_func = choice.func;
        set.emplace_back("ring_attn_func", to_string(choice.func));
    }
    if (choice.checkpointing != config.gradient_checkpointing) {
        config.gradient_checkpointing = choice.checkpointing;
        set.emplace_back("gradient_checkpointing", choice.checkpointing ? "true" : "false");
    }
    override_data_parallel(choice, config, set);
    override_batch(choice, config, set);
    return reading;
}

// ------------------------------------------------------------ what is best

std::optional<Alternative> Adviser::consider(const Choice& choice) const {
    Settings set;
    const ConfigReading reading = overridden(choice, set);
    if (set.empty()) return as_it_is_;
    return alternative_of(make_plan(reading, request_), set);
}

std::optional<Alternative> Adviser::alternative_of(const Plan& plan, const Settings& set) {
    if (!plan.ok() || !plan.time || !plan.memory || plan.time->step_s <= 0) return std::nullopt;
    Alternative found;
    found.set = set;
    found.mesh = plan.mesh;
    found.layout = plan.context_parallel.layout;
    found.gradient_checkpointing = plan.config.gradient_checkpointing;
    found.accumulation = plan.batch.accumulation;
    found.global_batch = plan.batch.global;
    found.tokens_of_rank = plan.sequence.per_rank;
    found.time = *plan.time;
    found.tokens_per_s = double(plan.batch.tokens_per_step.value_or(0)) / plan.time->step_s;
    found.verdict = plan.verdict;
    for (const RankMemory& rank : plan.memory->per_rank) {
        found.memory_total = std::max(found.memory_total, rank.total);
    }
    return found;
}

std::string sentence(Gain gain, const Alternative& plan, const Plan& present) {
    switch (gain) {
        case Gain::Present:
            return "the file as it is";
        case Gain::Fits:
            return "fits where the present plan does not";
        case Gain::Recomputes:
            return "layers are computed again in the backward, which takes less memory";
        case Gain::KeepsActivations:
            return "activations are kept: nothing is computed twice";
        case Gain::EvenWork:
            return "every rank has the same attention work";
        case Gain::FewerShare:
            return std::string("a sequence lies on ") + counted(plan.mesh.context_parallel_size(), "rank") +
                   " instead of " + std::to_string(present.context_parallel.size) + ": less is exchanged";
        case Gain::MoreShare:
            return std::string("a sequence lies on ") + counted(plan.mesh.context_parallel_size(), "rank") +
                   ": " + grouped(plan.tokens_of_rank) + " tokens on each";
        case Gain::SplitsHeads:
            return plan.mesh.ulysses == 1 ? "keys and values go round one ring, heads are not split"
                                          : counted(plan.mesh.ulysses, "rank") +
                                                " split the heads by all-to-all: fewer hops in a ring";
        case Gain::BatchChanges:
            return "the global batch becomes " + grouped(plan.global_batch);
    }
    return "";
}

bool is_even(RingAttnFunc func) {
    return func == RingAttnFunc::BatchZigzag || func == RingAttnFunc::Balanced;
}

void Adviser::explain(Alternative& plan) const {
    const int64_t before = present_.context_parallel.size, after = plan.mesh.context_parallel_size();
    if (plan.is_present()) plan.gains.push_back(Gain::Present);
    if (plan.verdict == Verdict::Fits &&
        (present_.verdict == Verdict::WillNotFit || present_.verdict == Verdict::Tight))
        plan.gains.push_back(Gain::Fits);
    if (after < before) plan.gains.push_back(Gain::FewerShare);
    if (after > before) plan.gains.push_back(Gain::MoreShare);
    if (plan.mesh.ring > 1 && is_even(plan.layout) && !is_even(present_.context_parallel.layout))
        plan.gains.push_back(Gain::EvenWork);
    if (plan.mesh.ulysses != present_.mesh.ulysses) plan.gains.push_back(Gain::SplitsHeads);
    const bool recomputed = present_.config.gradient_checkpointing;
    if (plan.gradient_checkpointing != recomputed)
        plan.gains.push_back(recomputed ? Gain::KeepsActivations : Gain::Recomputes);
    if (plan.global_batch != present_.batch.global) plan.gains.push_back(Gain::BatchChanges);
    for (const Gain gain : plan.gains) {
        plan.why += (plan.why.empty() ? "" : "; ") + sentence(gain, plan, present_);
    }
    if (plan.why.empty()) plan.why = "another layout or micro-batch";
}

std::vector<Alternative> Adviser::ranked() {
    std::vector<Alternative> plans;
    if (as_it_is_) plans.push_back(*as_it_is_);
    plans.insert(plans.end(), best_.begin(), best_.end());
    std::stable_sort(plans.begin(), plans.end(), is_better);
    const bool some_fit = !plans.empty() && class_of(plans.front().verdict) < 2;
    if (some_fit) {
        std::erase_if(plans, [](const Alternative& plan) {
            return plan.verdict == Verdict::WillNotFit && !plan.is_present();
        });
    }
    for (Alternative& plan : plans) explain(plan);
    return plans;
}

// ------------------------------------------------------------ the longest that fits

bool Adviser::fits_with(int64_t length) {
    Config& config = reading_.config;
    if (config.padding.fixed_length) {
        config.padding.fixed_length = length;
    } else {
        config.sequence_len = length;
    }
    const Plan plan = make_plan(reading_, request_);
    return plan.memory && plan.memory->fits && plan.sequence.length == length &&
           !blames(plan, "sequence_len");
}

std::optional<int64_t> Adviser::longest() {
    if (!present_.memory || present_.memory->device_bytes <= 0 || present_.sequence.length <= 0)
        return std::nullopt;
    constexpr int64_t kLongest = int64_t{1} << 30;  // that can be planned
    const int64_t multiple =
        length_multiple(present_.context_parallel.layout, present_.mesh.ring, present_.mesh.ulysses);
    int64_t fits = 0, too_long = kLongest / multiple + 1;  // in multiples
    while (too_long - fits > 1 && !stop_.stop_requested()) {
        const int64_t middle = fits + (too_long - fits) / 2;
        (fits_with(middle * multiple) ? fits : too_long) = middle;
    }
    return fits * multiple;
}

nlohmann::json value_of(const std::string& yaml) {
    nlohmann::json value;
    Diagnostics ignored;
    return read_value(yaml, value, ignored) ? value : nlohmann::json(yaml);
}

}  // namespace

std::optional<int64_t> longest_sequence_len(const ConfigReading& reading, const PlanRequest& request,
                                            const Plan& present, std::stop_token stop) {
    return Adviser(reading, request, present, std::move(stop)).longest();
}

Advice advise(const ConfigReading& reading, const PlanRequest& request, const Plan& present,
              std::stop_token stop) {
    return {Adviser(reading, request, present, stop).alternatives(),
            longest_sequence_len(reading, request, present, stop)};
}

Advice advise(const ConfigReading& reading, const PlanRequest& request) {
    return advise(reading, request, make_plan(reading, request));
}

nlohmann::json advice_to_json(const Advice& advice) {
    nlohmann::json plans = nlohmann::json::array();
    for (const Alternative& plan : advice.plans) {
        nlohmann::json set = nlohmann::json::object();
        for (const auto& [key, value] : plan.set) set[key] = value_of(value);
        plans.push_back({{"set", std::move(set)},
                         {"tokens_per_s", plan.tokens_per_s},
                         {"exposed_comm_s", plan.time.exposed_comm_s},
                         {"memory_total", plan.memory_total},
                         {"global_batch", plan.global_batch},
                         {"why", plan.why}});
    }
    return {
        {"plans", std::move(plans)},
        {"longest_sequence_len", advice.longest_sequence_len ? nlohmann::json(*advice.longest_sequence_len)
                                                             : nlohmann::json(nullptr)}};
}

}  // namespace ringmaster
