#include "engine/plan/resolve/advise.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/config/document.h"
#include "engine/layout/layout.h"
#include "engine/plan/findings.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/sharding_edit.h"

namespace ringmaster {

namespace {

constexpr RingAttnFunc kLayouts[] = {RingAttnFunc::BatchRing,   RingAttnFunc::BatchZigzag,
                                     RingAttnFunc::BatchStripe, RingAttnFunc::VarlenLlama3,
                                     RingAttnFunc::VarlenRing,  RingAttnFunc::VarlenZigzag,
                                     RingAttnFunc::Balanced};

/// A key that is on or off and trades memory for time.
struct MemoryOption {
    const char* key;
    bool Config::*is_on;
    Gain turned_on, turned_off;
    /// The key without which this option has no effect; the list has that key's option first.
    bool Config::*needs = nullptr;
    bool on_gpu_only = false;
    const char* off = "false";
};
constexpr MemoryOption kMemoryOptions[] = {
    {"gradient_checkpointing", &Config::gradient_checkpointing, Gain::Recomputes, Gain::KeepsActivations},
    {"tiled_mlp", &Config::tiled_mlp, Gain::TilesMlp, Gain::WholeMlp, nullptr, false, "auto"},
    {"selective_checkpointing", &Config::selective_checkpointing, Gain::KeepsAttention,
     Gain::RecomputesAttention, &Config::gradient_checkpointing},
    {"activation_offloading", &Config::activation_offloading, Gain::Offloads, Gain::StaysOnDevice,
     &Config::gradient_checkpointing, true},
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A combination of settings to try.
struct Choice {
    int64_t context = 1;
    int64_t ulysses = 1;
    RingAttnFunc func = RingAttnFunc::Default;  ///< Default: the layout the file asks for
    std::array<bool, std::size(kMemoryOptions)> options{};
    int zero_stage = 0;

    explicit Choice(const Plan& present)
        : context(present.context_parallel.size),
          ulysses(present.mesh.ulysses),
          zero_stage(present.config.zero_stage_asked) {
        for (size_t i = 0; i < options.size(); ++i) options[i] = present.config.*kMemoryOptions[i].is_on;
    }
};

bool blames(const Plan& plan, std::string_view key) {
    return std::any_of(plan.diagnostics.begin(), plan.diagnostics.end(), [&](const Diagnostic& said) {
        return said.severity == Severity::Error && said.key == key;
    });
}

/// Returns a copy for making plans. The copy keeps only errors, because warnings and notes would repeat.
ConfigReading lean(const ConfigReading& reading) {
    ConfigReading copy;
    copy.readable = reading.readable;
    copy.config = reading.config;
    for (const Diagnostic& said : reading.diagnostics) {
        if (said.severity == Severity::Error) copy.diagnostics.push_back(said);
    }
    return copy;
}

/// Returns the verdict's place in the order of preference; 0 is best.
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
        const bool model_is_fine =
            std::none_of(present.diagnostics.begin(), present.diagnostics.end(), [](const Diagnostic& said) {
                return said.severity == Severity::Error && said.code.starts_with("MODEL-");
            });
        if (model_is_fine) request_.known_model = present.model;
    }

    std::vector<Alternative> alternatives() {
        if (!present_.model || !reading_.readable) return {};
        if (present_.ok()) as_it_is_ = alternative_of(present_, {});
        look_at_all();
        return ranked();
    }

    std::optional<int64_t> longest() { return longest(reading_, present_); }
    std::optional<LongerBy> longest_by_one_change();

  private:
    bool is_written(const char* key) const { return reading_.config.lines.count(key) > 0; }
    void look_at_all();
    void look_at(int context, const std::vector<RingAttnFunc>& layouts, bool heads);
    std::vector<RingAttnFunc> layouts_built(int64_t context);
    bool splits_heads(int64_t context);

    std::vector<Choice> single_changes() const;
    ConfigReading overridden(const Choice& choice, Settings& set) const;
    void override_stage(const Choice& choice, Config& config, Settings& set) const;
    void override_data_parallel(const Choice& choice, Config& config, Settings& set) const;
    void override_batch(const Choice& choice, Config& config, Settings& set) const;
    std::optional<Alternative> consider(const Choice& choice) const;
    static std::optional<Alternative> alternative_of(const Plan& plan, const Settings& set);
    void explain(Alternative& plan) const;
    std::vector<Alternative> ranked();
    /// Returns the longest length that fits, or `above` if none is longer.
    std::optional<int64_t> longest(ConfigReading reading, const Plan& plan, int64_t above = 0) const;
    bool fits_with(ConfigReading& reading, int64_t length) const;

    ConfigReading reading_;
    PlanRequest request_;
    const Plan& present_;
    std::stop_token stop_;
    std::vector<Alternative> best_;  ///< one per context-parallel size
    std::optional<Alternative> as_it_is_;
};

// -------------------------------------------------------------------------------------- choices to try

std::vector<RingAttnFunc> Adviser::layouts_built(int64_t context) {
    std::vector<RingAttnFunc> built = {RingAttnFunc::Default};
    Choice choice(present_);
    choice.context = context;
    choice.ulysses = 1;
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
    Choice choice(present_);
    choice.context = choice.ulysses = context;
    const Plan plan = make_plan(overridden(choice, ignored), request_);
    return std::none_of(plan.diagnostics.begin(), plan.diagnostics.end(), [](const Diagnostic& said) {
        return said.severity == Severity::Error && said.key == "ulysses_size" &&
               said.code.starts_with("ENGINE-");
    });
}

/// Tries one setting after the other, each added to the best choice so far. The order is memory options if
/// memory is short, then layouts, ways to split heads, and memory options again. Trying all combinations
/// would take thousands of plans.
void Adviser::look_at(int context, const std::vector<RingAttnFunc>& layouts, bool heads) {
    Choice best(present_);
    best.context = context;
    best.ulysses = 1;
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
    const auto try_options = [&] {
        for (size_t option = 0; option < best.options.size(); ++option) {
            if (kMemoryOptions[option].on_gpu_only && present_.device == Device::Cpu) continue;
            Choice choice = best;
            choice.options[option] = !choice.options[option];
            try_other(choice);
        }
        for (const int stage : sharding_stages(present_.config)) {
            if (stage != best.zero_stage) try_other(with(&Choice::zero_stage, stage));
        }
    };
    if (found && class_of(found->verdict) > 0) try_options();
    for (const RingAttnFunc func : layouts) {
        if (context > 1 && func != RingAttnFunc::Default) try_other(with(&Choice::func, func));
    }
    for (const int ulysses : heads ? divisors(context) : std::vector<int>{}) {
        if (ulysses > 1) try_other(with(&Choice::ulysses, int64_t{ulysses}));
    }
    try_options();
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

// ----------------------------------------------------------- a choice as a plan

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

/// Sets micro-batch and accumulation to give the current global batch, or the nearest below; each group
/// gets at least one row.
void Adviser::override_batch(const Choice& choice, Config& config, Settings& set) const {
    const int64_t groups = present_.ranks / choice.context;
    const int64_t rows = std::max<int64_t>(1, present_.batch.global / groups);  // rows of a group per step
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

void Adviser::override_stage(const Choice& choice, Config& config, Settings& set) const {
    if (choice.zero_stage == config.zero_stage_asked) return;
    config.zero_stage_asked = choice.zero_stage;
    const Edit edit = sharding_edit(present_.config, choice.zero_stage).value();
    if (offloads_weights(edit)) config.parameter_offloading = true;
    set.emplace_back(edit.key, edit.value);
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
    for (size_t i = 0; i < choice.options.size(); ++i) {
        const MemoryOption& option = kMemoryOptions[i];
        const bool has_effect = !option.needs || config.*option.needs;
        const bool on = choice.options[i] && has_effect;
        if (on == config.*option.is_on) continue;
        config.*option.is_on = on;
        if (!has_effect) continue;  // turned off together with the option that this one needs
        const bool is_word_of_another = option.needs && !on && !is_written(option.key);
        set.emplace_back(is_word_of_another ? "gradient_checkpointing" : option.key,
                         on || is_word_of_another ? "true" : option.off);
    }
    override_stage(choice, config, set);
    override_data_parallel(choice, config, set);
    override_batch(choice, config, set);
    return reading;
}

// --------------------------------------------------- the best alternatives

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
    for (size_t i = 0; i < std::size(kMemoryOptions); ++i)
        found.options.push_back(plan.config.*kMemoryOptions[i].is_on);
    found.zero_stage = plan.mesh.shards() > 1 ? plan.zero_stage : 0;
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
        case Gain::TilesMlp:
            return "MLPs go in tiles of tokens, which takes less memory";
        case Gain::WholeMlp:
            return "MLPs are computed whole: nothing of them twice";
        case Gain::KeepsAttention:
            return "attention's output is kept: only the rest of a layer is computed again";
        case Gain::RecomputesAttention:
            return "attention is computed again too, which takes less memory";
        case Gain::Offloads:
            return "activations wait in host memory, which takes less of the device's";
        case Gain::StaysOnDevice:
            return "activations stay on the device: nothing is copied to host memory";
        case Gain::SharesStates:
            return (plan.zero_stage == 3 ? "weights, gradients and optimizer are shared by "
                                         : "gradients and optimizer are shared by ") +
                   counted(plan.mesh.shards(), "rank") + " (ZeRO " + std::to_string(plan.zero_stage) +
                   "), which takes less memory";
        case Gain::WholeStates:
            return plan.zero_stage == 0 ? "every rank holds all states: nothing is gathered"
                                        : "every rank holds all weights: they are gathered once a step";
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
    for (size_t i = 0; i < std::size(kMemoryOptions); ++i) {
        const bool before_on = present_.config.*kMemoryOptions[i].is_on;
        const bool goes_with_another = kMemoryOptions[i].needs && !plan.gradient_checkpointing;
        if (plan.options[i] != before_on && !goes_with_another)
            plan.gains.push_back(before_on ? kMemoryOptions[i].turned_off : kMemoryOptions[i].turned_on);
    }
    const int stage = present_.mesh.shards() > 1 ? present_.zero_stage : 0;
    if (plan.zero_stage != stage)
        plan.gains.push_back(plan.zero_stage > stage ? Gain::SharesStates : Gain::WholeStates);
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

// --------------------------------------------------- the longest sequence that fits

bool Adviser::fits_with(ConfigReading& reading, int64_t length) const {
    Config& config = reading.config;
    if (config.padding.fixed_length) {
        config.padding.fixed_length = length;
    } else {
        config.sequence_len = length;
    }
    PlanRequest request = request_;
    request.needs_time = false;
    const Plan plan = make_plan(reading, request);
    return plan.memory && plan.memory->fits && plan.sequence.length == length &&
           !blames(plan, "sequence_len");
}

std::optional<int64_t> Adviser::longest(ConfigReading reading, const Plan& plan, int64_t above) const {
    if (!plan.memory || plan.memory->device_bytes <= 0 || plan.sequence.length <= 0) return std::nullopt;
    constexpr int64_t kLongest = int64_t{1} << 30;  // longest sequence that can be planned
    const int64_t multiple = length_multiple(plan.context_parallel.layout, plan.mesh.ring, plan.mesh.ulysses);
    int64_t fits = above / multiple, too_long = kLongest / multiple + 1;  // both count units of `multiple`
    if (above > 0 && (fits + 1 >= too_long || !fits_with(reading, (fits + 1) * multiple))) return above;
    while (too_long - fits > 1 && !stop_.stop_requested()) {
        const int64_t middle = fits + (too_long - fits) / 2;
        (fits_with(reading, middle * multiple) ? fits : too_long) = middle;
    }
    return fits * multiple;
}

std::vector<Choice> Adviser::single_changes() const {
    std::vector<Choice> changes;
    const Choice as_it_is(present_);
    for (size_t option = 0; option < as_it_is.options.size(); ++option) {
        if (kMemoryOptions[option].on_gpu_only && present_.device == Device::Cpu) continue;
        changes.push_back(as_it_is);
        changes.back().options[option] = !as_it_is.options[option];
    }
    for (const int stage : sharding_stages(present_.config)) {
        if (stage <= as_it_is.zero_stage) continue;
        changes.push_back(as_it_is);
        changes.back().zero_stage = stage;
    }
    for (const int size : divisors(present_.ranks)) {
        if (size <= as_it_is.context) continue;
        changes.push_back(as_it_is);
        changes.back().context = size;
    }
    return changes;
}

std::optional<LongerBy> Adviser::longest_by_one_change() {
    const std::optional<int64_t> as_it_is = longest();
    if (!as_it_is || !reading_.readable) return std::nullopt;
    LongerBy best{{}, *as_it_is};
    const auto look = [&](const ConfigReading& reading, const Settings& set) {
        PlanRequest request = request_;
        request.needs_time = false;
        const Plan plan = make_plan(reading, request);
        if (!plan.ok() || set.empty() || stop_.stop_requested()) return;
        const std::optional<int64_t> found = longest(reading, plan, best.sequence_len);
        if (found && *found > best.sequence_len) best = {set, *found};
    };
    for (const Choice& choice : single_changes()) {
        Settings set;
        const ConfigReading reading = overridden(choice, set);
        look(reading, set);
    }
    if (present_.batch.micro > 1 && !is_written("batch_size")) {
        ConfigReading reading = reading_;
        const int64_t rows = reading.config.micro_batch_size * reading.config.gradient_accumulation_steps;
        reading.config.micro_batch_size = 1;
        reading.config.gradient_accumulation_steps = rows;
        look(reading, {{"micro_batch_size", "1"}, {"gradient_accumulation_steps", std::to_string(rows)}});
    }
    return best.set.empty() ? std::nullopt : std::optional(best);
}

nlohmann::json value_of(const std::string& yaml) {
    nlohmann::json value;
    Diagnostics ignored;
    return read_value(yaml, value, ignored) ? value : nlohmann::json(yaml);
}

nlohmann::json to_json(const Settings& settings) {
    nlohmann::json set = nlohmann::json::object();
    for (const auto& [key, value] : settings) set[key] = value_of(value);
    return set;
}

}  // namespace

std::optional<int64_t> longest_sequence_len(const ConfigReading& reading, const PlanRequest& request,
                                            const Plan& present, std::stop_token stop) {
    return Adviser(reading, request, present, std::move(stop)).longest();
}

std::optional<LongerBy> longest_by_one_change(const ConfigReading& reading, const PlanRequest& request,
                                              const Plan& present, std::stop_token stop) {
    return Adviser(reading, request, present, std::move(stop)).longest_by_one_change();
}

Advice advise(const ConfigReading& reading, const PlanRequest& request, const Plan& present,
              std::stop_token stop) {
    return {Adviser(reading, request, present, stop).alternatives(),
            longest_sequence_len(reading, request, present, stop),
            longest_by_one_change(reading, request, present, stop)};
}

nlohmann::json advice_to_json(const Advice& advice) {
    nlohmann::json plans = nlohmann::json::array();
    for (const Alternative& plan : advice.plans) {
        plans.push_back({{"set", to_json(plan.set)},
                         {"tokens_per_s", plan.tokens_per_s},
                         {"exposed_comm_s", plan.time.exposed_comm_s},
                         {"memory_total", plan.memory_total},
                         {"global_batch", plan.global_batch},
                         {"why", plan.why}});
    }
    nlohmann::json longest, longer_by;  // null by default
    if (advice.longest_sequence_len) longest = *advice.longest_sequence_len;
    if (advice.longer_by)
        longer_by = {{"set", to_json(advice.longer_by->set)},
                     {"sequence_len", advice.longer_by->sequence_len}};
    return {{"plans", std::move(plans)},
            {"longest_sequence_len", std::move(longest)},
            {"longer_by", std::move(longer_by)}};
}

}  // namespace ringmaster
