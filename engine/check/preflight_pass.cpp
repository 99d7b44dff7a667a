#include "engine/check/preflight_pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "engine/check/plain_layer.h"
#include "engine/check/plain_model.h"
#include "engine/check/plain_policy.h"
#include "engine/check/plain_preferences.h"
#include "engine/check/preflight_samples.h"
#include "engine/config/offloading.h"
#include "engine/config/policy.h"
#include "engine/model/gather.h"
#include "engine/train/rank_agreement.h"

namespace ringmaster {

namespace {

/// The bound for the probabilities of experts is this many times the bound for gradients.
constexpr double kRounding = 10;

at::Tensor sum_of_ranks(Groups& groups, at::Tensor values) {
    groups.world().all_reduce(values).wait();
    return values;
}

double sum_of_ranks(Groups& groups, double value) {
    const auto options = at::TensorOptions().dtype(at::kDouble).device(groups.device());
    return sum_of_ranks(groups, at::full({1}, value, options)).item<double>();
}

/// Returns a hash of each token's last hidden state, which shows any changed bit: int64 [B, S] on all ranks.
/// A first call writes its experts to `chosen`, and later calls use the same ones: otherwise the number of an
/// expert's tokens could differ, which changes the order in which its products are summed.
at::Tensor fingerprints(const PreflightBatch& batch, const std::vector<Row>& rows, Groups& groups,
                        TrainedModel& trained, std::vector<at::Tensor>& chosen) {
    MeshPass pass(batch.plan, groups, trained, Kept{.checkpointing = true});
    size_t next = 0;
    pass.decoder().set_expert_chooser([&](int, auto&&, auto&&, const at::Tensor& own_nk) {
        if (next == chosen.size()) chosen.push_back(own_nk);
        return chosen[next++];
    });
    const int last = static_cast<int>(batch.plan.model->num_layers) - 1;
    at::Tensor print_n;
    Layout layout;
    pass.on_batch([&](const SequenceShard& shard) { layout = shard.layout; });
    pass.decoder().set_probe([&](int layer, const char* what, const at::Tensor& x_nc) {
        if (layer != last || std::strcmp(what, "layer output") != 0) return;
        const at::Tensor bits_nc = x_nc.contiguous().view(x_nc.element_size() == 4 ? at::kInt : at::kShort);
        const at::Tensor weights_c = at::arange(1, 2 * x_nc.size(1), 2, bits_nc.options().dtype(at::kLong));
        std::vector<at::Tensor> parts;
        for (const at::Tensor& part : bits_nc.split(1024))
            parts.push_back((part.to(at::kLong) * weights_c).sum(1));
        print_n = at::cat(parts);
    });
    pass.forward(rows);
    const bool joined =
        batch_shape(rows, batch.plan.config, {}, batch.plan.sharing.on).joins_rows(batch.plan.config);
    const int64_t sequences = joined ? 1 : static_cast<int64_t>(rows.size());
    return gather_tokens(groups, layout, print_n.view({sequences, -1}), layout.tokens).cpu();
}

/// Returns the documents that this rank computes with the plain model, as indices into the batch.
std::vector<size_t> dealt_to(const PreflightBatch& batch, int rank) {
    const Mesh& mesh = batch.plan.mesh;
    const int groups = mesh.data_parallel_size(), before = (mesh.data_rank(rank) + groups - 1) % groups;
    std::vector<size_t> dealt;
    int in_turn = 0;
    for (size_t i = 0; i < batch.documents.size(); ++i) {
        if (batch.documents[i].group != before) continue;
        if (in_turn++ % batch.plan.context_parallel.size == mesh.context_rank(rank)) dealt.push_back(i);
    }
    return dealt;
}

/// Joins the choices of all ranks' documents.
std::shared_ptr<ExpertChoices> choices_of(const PreflightBatch& batch, Groups& groups,
                                          const std::vector<PlainMixture>& mixtures) {
    const ModelConfig& model = *batch.plan.model;
    if (model.num_experts == 0) return nullptr;
    std::vector<std::pair<int64_t, int64_t>> place_and_row;
    std::vector<int64_t> begins;
    for (const PreflightBatch::Document& document : batch.documents) {
        begins.push_back(static_cast<int64_t>(place_and_row.size()));
        for (int64_t at = 0; at < document.row.tokens(); ++at)
            place_and_row.emplace_back(document.row.place + at, begins.back() + at);
    }
    const auto tokens = static_cast<int64_t>(place_and_row.size());
    at::Tensor chosen_ltk = at::zeros({model.num_layers, tokens, model.experts_per_token},
                                      at::TensorOptions().dtype(at::kLong).device(groups.device()));
    for (size_t layer = 0; layer < mixtures.size(); ++layer) {
        if (!mixtures[layer].chosen_nk.defined()) continue;
        int64_t row = 0;
        for (const size_t i : dealt_to(batch, groups.rank())) {
            const int64_t count = batch.documents[i].row.tokens();
            chosen_ltk[static_cast<int64_t>(layer)]
                .narrow(0, begins[i], count)
                .copy_(mixtures[layer].chosen_nk.narrow(0, row, count));
            row += count;
        }
    }
    return std::make_shared<ExpertChoices>(std::move(place_and_row), sum_of_ranks(groups, chosen_ltk));
}

/// Returns the difference between the proof's reference and a slot's log-probability. The difference changes
/// the numbers that the loss compares by up to 1, so that every slot has a different weight.
double reference_offset(const Config& config, const DocumentKey& key) {
    const double wave = std::sin(static_cast<double>(key.first) + 0.5 * static_cast<double>(key.second));
    return config.policy ? 0.5 * wave : wave / config.preference.beta;
}

/// Returns an advantage that differs between documents; half of them are negative.
double advantage_in_proof(int64_t place) {
    return place % 2 == 0 ? 1 + 0.1 * static_cast<double>(place % 7)
                          : -0.5 - 0.1 * static_cast<double>(place % 5);
}

/// Returns the logarithm of a label's ratio in the proof. It is far from the edges of the clip, where
/// rounding would decide which side counts; some documents lie inside the clip and some on either side of it.
double log_ratio_in_proof(const PolicyRule& rule, int64_t document, int64_t label) {
    const double above = std::log1p(rule.epsilon_high);
    const double below = rule.epsilon_low < 1 ? -std::log1p(-rule.epsilon_low) : 1;
    const double of_document[] = {0.5 * above, 2 * above, -0.5 * below, -2 * below};
    return of_document[document / 2 % 4] * (1 + 0.2 * std::sin(static_cast<double>(label)));
}

/// Makes half of the proof's documents desirable, regardless of the labels in KTO's rows.
bool is_desirable_in_proof(int64_t place) {
    return place % 2 == 0;
}

/// Returns facts that the loss compares with these log-probabilities of the slots of `documents`.
PreferenceFacts facts_for(const Config& config, const std::vector<Row>& documents,
                          std::map<DocumentKey, double> log_p) {
    std::map<int64_t, double> old_log_p;
    if (config.policy) {
        for (const Row& document : documents) {
            for (const DocumentKey& key : slot_keys(config, {document}))
                old_log_p[key.first] = log_p.at(key) - log_ratio_in_proof(*config.policy, document.place,
                                                                          key.first - document.place);
        }
    }
    for (auto& [key, value] : log_p) value += reference_offset(config, key);
    return {[reference = std::move(log_p)](const DocumentKey& key) { return reference.at(key); },
            is_desirable_in_proof, advantage_in_proof,
            [old_log_p](int64_t place) { return std::optional(old_log_p.at(place)); }};
}

/// Returns facts made from the mesh's log-probabilities, as in a run. In 16 bits, these differ from the plain
/// model's by more than the bound for the loss.
PreferenceFacts facts_for_mesh(const PreflightBatch& batch, Groups& groups, MeshPass& pass) {
    const Config& config = batch.plan.config;
    std::map<DocumentKey, double> log_p;
    const auto add = [&](const StepRows& rows, const std::vector<DocumentKey>& keys) {
        std::vector<double> sums = local_segment_sums(pass, rows, true);
        sum_over_ranks(groups, sums);
        for (size_t i = 0; i < keys.size(); ++i) log_p[keys[i]] = sums[2 * i];
    };
    add(batch.rows, slot_keys(config, batch.rows.documents));
    if (config.preference.method == PreferenceMethod::Kto) {
        const MismatchedRows mismatched(config, batch.rows.documents);
        add(step_rows(batch.plan, mismatched.rows(), groups.rank()), mismatched.keys());
    }
    return facts_for(config, batch.rows.documents, std::move(log_p));
}

/// Holds the slots for which the plain model computes the loss: the batch's and, for KTO, the mismatched
/// rows'. Also holds the facts that the loss compares with the plain model's log-probabilities.
class PlainPreferences {
  public:
    /// Adds this rank's part of the mismatched rows to `own`.
    PlainPreferences(const PreflightBatch& batch, Groups& groups, std::vector<PlainDocument>& own)
        : config_(batch.plan.config), policy_(config_.policy), documents_(batch.rows.documents) {
        if (!weighs_documents(config_)) return;
        keys_ = slot_keys(config_, documents_);
        if (config_.preference.method == PreferenceMethod::Kto) add_mismatched(batch, groups, own);
        comparison_ = {static_cast<int64_t>(keys_.size()),
                       [this](const at::Tensor& sums_d2) { return loss_of(sums_d2); }};
    }
    PlainPreferences(const PlainPreferences&) = delete;
    PlainPreferences& operator=(const PlainPreferences&) = delete;

    const PlainComparison* comparison() const { return comparison_.loss ? &comparison_ : nullptr; }
    const PreferenceFacts& facts() const { return facts_; }

  private:
    void add_mismatched(const PreflightBatch& batch, Groups& groups, std::vector<PlainDocument>& own) {
        mismatched_.emplace(batch.plan.config, documents_);
        std::vector<Row> rows;
        for (const Row& row : mismatched_->rows()) {
            for (Row& document : row.documents()) rows.push_back(std::move(document));
        }
        const auto ranks = static_cast<size_t>(groups.world().size()),
                   rank = static_cast<size_t>(groups.rank());
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto slot = static_cast<int64_t>(documents_.size() + i);
            if (i % ranks == rank) own.push_back({rows[i], rows[i].tokens(), rows[i].tokens(), slot, false});
        }
        keys_.insert(keys_.end(), mismatched_->keys().begin(), mismatched_->keys().end());
    }

    at::Tensor numbers(const std::function<double(size_t)>& of, size_t from, size_t count) const {
        std::vector<double> values;
        for (size_t i = from; i < from + count; ++i) values.push_back(of(i));
        return at::tensor(values, at::kDouble);
    }

    at::Tensor loss_of(const at::Tensor& sums_d2) {
        const at::Tensor sums = sums_d2.detach().cpu();
        std::map<DocumentKey, double> log_p;
        for (size_t i = 0; i < keys_.size(); ++i)
            log_p[keys_[i]] = sums[static_cast<int64_t>(i)][0].item<double>();
        facts_ = facts_for(config_, documents_, std::move(log_p));
        return policy_ ? policy_loss_of(sums_d2) : preference_loss_of(sums_d2);
    }

    at::Tensor policy_loss_of(const at::Tensor& sums_d2) const {
        std::vector<int64_t> document_l;
        for (size_t i = 0; i < documents_.size(); ++i)
            document_l.insert(document_l.end(), static_cast<size_t>(documents_[i].valid_labels()),
                              static_cast<int64_t>(i));
        const auto old = [&](size_t i) { return *facts_.old_log_p(keys_[i].first); };
        const auto reference = [&](size_t i) { return facts_.reference(keys_[i]); };
        const auto advantage = [&](size_t i) { return facts_.advantage(documents_[i].place); };
        const at::Device device = sums_d2.device();
        const PlainRollouts rollouts{
            at::tensor(document_l, at::kLong).to(device), numbers(advantage, 0, documents_.size()).to(device),
            numbers(old, 0, keys_.size()).to(device), numbers(reference, 0, keys_.size()).to(device)};
        return plain_policy_loss(*policy_, rollouts, sums_d2.select(1, 0));
    }

    at::Tensor preference_loss_of(const at::Tensor& sums_d2) const {
        const Preference& preference = config_.preference;
        const size_t count = documents_.size();
        const auto reference = [&](size_t i) {
            return preference.has_reference() ? facts_.reference(keys_[i]) : 0.0;
        };
        const auto labels = [&](size_t i) { return static_cast<double>(documents_[i].valid_labels()); };
        const auto prompts = [&](size_t i) {
            const bool learned = preference.learns_prompt() && i % 2 == 0;
            return learned ? static_cast<double>(documents_[i].tokens() - 1) - labels(i) : 0;
        };
        const PlainFacts facts{
            numbers(labels, 0, count).to(sums_d2.device()), numbers(prompts, 0, count).to(sums_d2.device()),
            numbers(reference, 0, count).to(sums_d2.device()),
            numbers([&](size_t i) { return is_desirable_in_proof(documents_[i].place) ? 1 : 0; }, 0, count)
                .to(sums_d2.device()),
            numbers(reference, count, keys_.size() - count).to(sums_d2.device())};
        return plain_preference_loss(preference, facts, sums_d2);
    }

    const Config config_;
    const std::optional<PolicyRule> policy_;
    const std::vector<Row> documents_;
    std::optional<MismatchedRows> mismatched_;
    std::vector<DocumentKey> keys_;
    PreferenceFacts facts_;
    PlainComparison comparison_;
};

bool same_values(const at::Tensor& a, const at::Tensor& b) {
    const auto bits = [](const at::Tensor& x) {
        const int64_t size = x.element_size();
        return x.view(size == 4 ? at::kInt : size == 2 ? at::kShort : at::kChar);
    };
    // A sum of slices loses the sign of zeros, which 4-bit weights have, so compare values; NaN equals no
    // value, so compare bits too.
    return at::equal(a, b) || at::equal(bits(a), bits(b));
}

/// Returns 1 + the index of the first tensor whose values in a pass differ from those that the ranks hold; 0
/// if there is no such tensor.
size_t first_misread(Parameters& parameters) {
    size_t found = 0;
    for (int unit = 0; unit < parameters.units(); ++unit) {
        if (parameters.is_empty(unit)) continue;
        at::Tensor held = weights_from_their_holders(parameters, unit);
        parameters.use(unit);
        const at::Tensor read = parameters.weights_of_unit(unit);
        const FlatRange part = parameters.part_of(unit);
        held = held.narrow(0, part.begin, part.size());
        for (size_t i = 0; i < parameters.shapes().size() && found == 0; ++i) {
            if (parameters.unit_of(i) != unit) continue;
            const bool same = parameters.holds_experts(unit)
                                  ? same_values(held, read)
                                  : same_values(parameters.view(held, i), parameters.view(read, i));
            if (!same) found = i + 1;
        }
        parameters.drop(unit);
    }
    return found;
}

/// Compares each tensor's size with the sum of the ranks' slices of it. Returns a message about the first
/// tensor that differs; empty if none does.
std::string not_divided(Parameters& parameters) {
    Groups* groups = parameters.sharding_groups();
    if (groups == nullptr) return "";
    at::Tensor counts = at::zeros({static_cast<int64_t>(parameters.shapes().size())}, at::kDouble);
    for (size_t i = 0; i < parameters.shapes().size(); ++i)
        counts[static_cast<int64_t>(i)] =
            static_cast<double>(parameters.own_values(parameters.master(), i).size(0));
    at::Tensor shared = counts.to(groups->device());
    groups->shard().all_reduce(shared).wait();
    counts = shared.cpu();
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const ParameterShape& shape = parameters.shapes()[i];
        const auto held = static_cast<int64_t>(counts[static_cast<int64_t>(i)].item<double>());
        if (held != shape.size())
            return "the ranks' slices have " + std::to_string(held) + " elements of " + shape.name +
                   ", which has " + std::to_string(shape.size());
    }
    return "";
}

}  // namespace

Proof prove_on_mesh(const PreflightBatch& batch, Groups& groups, TrainedModel& trained, TrainingStep& step,
                    TrainingStep::Computed& computed, const Proof& plain) {
    ExpertChoices* choices = plain.choices.get();
    const bool in_16_bits = batch.plan.config.precision != Precision::Float32;
    const bool compares = has_reference(batch.plan.config) || batch.plan.config.policy;
    step.set_facts(in_16_bits && compares ? facts_for_mesh(batch, groups, step.pass()) : plain.facts);
    while (true) {
        PreflightSamples samples(batch, groups);
        trained.trained().begin_gradients(true);
        {
            const SampledPass sampled(batch, groups, samples, step.pass(), choices);
            computed = step.compute(batch.rows);
        }
        if (choices != nullptr) choices->check(groups, kRounding * bound_of(batch.plan.config.precision));
        const bool again = computed.overflowed && !step.loss_scale().is_least();
        if (again) step.loss_scale().update(true);  // a run also does this before its next step
        if (!again)
            return {computed.loss, computed.grad_norm, trained.trained().gradients(),
                    sum_of_ranks(groups, samples.table()) / computed.loss_scale.value_or(1)};
    }
}

Proof prove_pass(const PreflightBatch& batch, Groups& groups, TrainedModel& trained, const Proof& plain) {
    ExpertChoices* choices = plain.choices.get();
    PreflightSamples samples(batch, groups);
    MeshPass pass(batch.plan, groups, trained, batch.kept);
    const SampledPass sampled(batch, groups, samples, pass, choices);
    trained.trained().begin_gradients(true);
    std::optional<PreferenceLoss> preferred;
    const MeshPass::Result own = learn_step(batch.plan, groups, pass, batch.rows, plain.facts, preferred);
    if (choices != nullptr) choices->check(groups, kRounding * bound_of(Precision::Float32));
    at::Tensor shares = at::zeros({kShareNumbers}, at::kDouble);
    put_shares(own.shares, groups, shares.data_ptr<double>());
    shares = sum_of_ranks(groups, shares.to(groups.device())).cpu();
    check_shares(shares.data_ptr<double>(), batch.rows.counts.valid_labels);
    const double mean = sum_of_ranks(groups, own.loss_sum) * batch.rows.scale();
    return {preferred ? preferred->loss : mean, gradient_norm(trained.trained()),
            trained.trained().gradients(), sum_of_ranks(groups, samples.table())};
}

Proof prove_plainly(const PreflightBatch& batch, Groups& groups, TrainedModel& trained) {
    PreflightSamples samples(batch, groups);
    std::vector<PlainDocument> own;
    std::vector<std::pair<size_t, int64_t>> held;  // samples, and their rows in this rank's documents
    int64_t labels = 0, tokens = 0;
    for (const size_t i : dealt_to(batch, groups.rank())) {
        const PreflightBatch::Document& document = batch.documents[i];
        for (size_t sample = 0; sample < samples.tokens().size(); ++sample) {
            const PreflightSamples::Token& token = samples.tokens()[sample];
            const bool shares = document.prompt_of == token.document && token.at < document.shared;
            if (token.document == i || shares) held.emplace_back(sample, tokens + token.at);
        }
        own.push_back({document.row, document.longest, document.padded, static_cast<int64_t>(document.slot),
                       batch.plan.config.preference.learns_prompt() && document.slot % 2 == 0,
                       batch.plan.config.policy.has_value()});
        tokens += document.row.tokens();
        labels += document.row.valid_labels();
    }
    const double all_labels = sum_of_ranks(groups, static_cast<double>(labels));
    const double scale = all_labels > 0 ? 1 / all_labels : 0;
    const EmbeddingNoise noise(batch.plan.config);
    const auto probe = [&](int layer, const at::Tensor& dqkv_nw) {
        for (const auto& [sample, row] : held) samples.take(sample, layer, dqkv_nw, row);
    };
    PlainPreferences preferences(batch, groups, own);
    const PlainGradients plain = plain_gradients(*batch.plan.model, trained, groups, own, scale, probe,
                                                 &noise, preferences.comparison());
    const bool compares = preferences.comparison() != nullptr;
    std::optional<Flat> uncancelled;
    if (batch.plan.config.preference.scores()) {
        PlainComparison in_absolute = *preferences.comparison();
        in_absolute.in_absolute = true;
        uncancelled = plain_gradients(
                          *batch.plan.model, trained, groups, own, scale, [](int, const at::Tensor&) {},
                          &noise, &in_absolute)
                          .gradients;
    }
    return {compares ? plain.loss_sum : sum_of_ranks(groups, plain.loss_sum) * scale,
            0,
            plain.gradients,
            sum_of_ranks(groups, samples.table()),
            choices_of(batch, groups, plain.mixtures),
            preferences.facts(),
            std::move(uncancelled)};
}

std::string learned_without_labels(const PreflightBatch& batch, Groups& groups, TrainedModel& trained) {
    Parameters& parameters = trained.trained();
    MeshPass pass(batch.plan, groups, trained, batch.kept);
    pass.leave_out_router_loss();
    parameters.begin_gradients(true);
    pass.forward_backward({batch.unlabelled}, 1, 1);
    size_t found = 0;
    for (size_t i = 0; i < parameters.shapes().size() && found == 0; ++i) {
        if (!parameters.own_values(parameters.gradients(), i).eq(0).all().item<bool>()) found = i + 1;
    }
    const auto named = static_cast<size_t>(largest_of_ranks(groups, static_cast<double>(found)));
    return named == 0 ? ""
                      : "rows without a label change the gradient of " + parameters.shapes()[named - 1].name;
}

TrainedModel in_float32(const Plan& plan, TrainedModel& trained) {
    const auto sharding_of = [&](Parameters& parameters) {
        Groups* groups = parameters.sharding_groups();
        Sharding sharding;
        if (groups != nullptr) sharding = {plan.zero_stage, *groups};
        sharding.states_in_host = states_in_host(plan.config);
        sharding.weights_in_host = plan.config.parameter_offloading;
        return sharding;
    };
    TrainedModel wide(*plan.model, plan.config.lora, Precision::Float32, trained.weights.device(),
                      sharding_of(trained.weights), plan.config.quantization);
    const auto copy = [](Parameters& to, Parameters& from) {
        for (int unit = 0; unit < from.units(); ++unit)
            to.own_slice(to.master(), unit)
                .copy_(from.own_slice(from.master(), unit).to(from.compute_dtype()));
        to.share_update();
    };
    const std::vector<Parameters*> to = wide.all(), from = trained.all();
    for (size_t i = 0; i < to.size(); ++i) copy(*to[i], *from[i]);
    wide.weights.take_buffers(trained.weights);
    if (wide.quantized) {
        wide.quantized->round_to(trained.weights.compute_dtype());
        wide.quantized->quantize_inputs(trained.quantized->quantizes_inputs());
    }
    return wide;
}

std::string wrong_weights(Groups& groups, TrainedModel& trained) {
    for (Parameters* parameters : trained.all()) {
        check_same_weights(groups, *parameters);
        const std::string divided = not_divided(*parameters);
        if (!divided.empty()) return divided;
        const auto misread =
            static_cast<size_t>(largest_of_ranks(groups, static_cast<double>(first_misread(*parameters))));
        if (misread > 0)
            return "a rank does not compute with the weights of " + parameters->shapes()[misread - 1].name +
                   " that the ranks hold";
    }
    return "";
}

bool leaks(const PreflightBatch& batch, Groups& groups, TrainedModel& trained) {
    std::vector<Row> rows = batch.rows.micro_batches[0];
    std::vector<PreflightBatch::Document> documents;
    for (const PreflightBatch::Document& document : batch.documents) {
        if (document.group == batch.plan.mesh.data_rank(groups.rank()) && document.micro_batch == 0)
            documents.push_back(document);
    }
    const PreflightBatch::Document& changed = documents[(documents.size() - 1) / 2];
    // A shared prompt stays unchanged, because the documents would no longer share it.
    const int64_t from = std::max({changed.row.tokens() / 2, changed.shared, changed.lent});

    std::vector<at::Tensor> experts;
    const at::Tensor before_bs = fingerprints(batch, rows, groups, trained, experts);
    Row& row = rows[changed.in_batch];
    std::vector<int32_t> ids(row.input_ids.begin(), row.input_ids.end());
    for (int64_t at = changed.in_row + from; at < changed.in_row + changed.row.tokens(); ++at) {
        int32_t& id = ids[static_cast<size_t>(at)];
        id = static_cast<int32_t>((id + 1) % batch.plan.model->vocab_size);
    }
    row.input_ids = ids;
    at::Tensor differs_bs = fingerprints(batch, rows, groups, trained, experts).ne(before_bs);
    at::Tensor inside = differs_bs[changed.sequence].slice(0, changed.place_of(from),
                                                           changed.place_of(changed.row.tokens() - 1) + 1);
    if (!inside.all().item<bool>()) return true;
    inside.zero_();
    for (const PreflightBatch::Document& document : documents) {
        const int64_t last = document.place_of(document.row.tokens() - 1);
        if (differs_bs[document.sequence].slice(0, document.begin, last + 1).any().item<bool>()) return true;
    }
    return false;
}

}  // namespace ringmaster
