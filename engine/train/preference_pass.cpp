#include "engine/train/preference_pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "engine/config/policy.h"
#include "engine/train/policy_rules.h"

namespace ringmaster {

namespace {

void append(std::vector<int32_t>& to, std::span<const int32_t> from) {
    to.insert(to.end(), from.begin(), from.end());
}

DocumentKey key_of(const Row& document) {
    return {document.place, document.place};
}

/// Returns the places of a document's labels in the data.
std::vector<int64_t> label_places(const Row& document) {
    std::vector<int64_t> places;
    for (size_t i = 1; i < document.labels.size(); ++i) {
        if (document.labels[i] != kNoLabel) places.push_back(document.place + static_cast<int64_t>(i));
    }
    return places;
}

}  // namespace

std::vector<DocumentKey> slot_keys(const Config& config, const std::vector<Row>& rows) {
    const bool by_label = config.policy.has_value();
    std::vector<DocumentKey> keys;
    for (const Row& row : rows) {
        for (const Row& document : row.documents()) {
            const std::vector<int64_t> places =
                by_label ? label_places(document) : std::vector<int64_t>{document.place};
            for (const int64_t place : places) keys.emplace_back(place, place);
        }
    }
    return keys;
}

MismatchedRows::MismatchedRows(const Config& config, const std::vector<Row>& documents) {
    const auto longest = static_cast<size_t>(config.sequence_len);
    std::vector<std::vector<int64_t>> ends;  // documents of each row
    ids_.reserve(documents.size());          // rows refer to the elements, which must not move
    labels_.reserve(documents.size());
    for (size_t i = 0; i < documents.size(); ++i) {
        const Row& asked = documents[i];
        const Row& answered = documents[i > 0 ? i - 1 : documents.size() - 1];
        const auto prompt = static_cast<size_t>(asked.prompt_tokens());
        const auto from = static_cast<size_t>(answered.prompt_tokens());
        std::vector<int32_t> ids, labels(prompt, kNoLabel);
        append(ids, asked.input_ids.first(prompt));
        append(ids, answered.input_ids.subspan(from));
        append(labels, answered.labels.subspan(from));
        ids.resize(std::min(ids.size(), longest));
        labels.resize(ids.size());
        const bool joins =
            config.sample_packing && !ids_.empty() && ids_.back().size() + ids.size() <= longest;
        if (!joins) {
            ids_.emplace_back();
            labels_.emplace_back();
            ends.emplace_back();
            rows_.push_back({{}, {}, {}, asked.place});
        }
        append(ids_.back(), ids);
        append(labels_.back(), labels);
        ends.back().push_back(static_cast<int64_t>(ids_.back().size()));
        keys_.emplace_back(asked.place, answered.place);
    }
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i] = {ids_[i], labels_[i], ends[i], rows_[i].place};
}

std::vector<double> local_segment_sums(MeshPass& pass, const StepRows& rows, bool dropout) {
    std::vector<double> sums(2 * rows.slots);
    for (size_t i = 0; i < rows.rounds; ++i) {
        const bool own = i < rows.micro_batches.size();
        const std::vector<double> found =
            pass.segment_sums(own ? rows.micro_batches[i] : std::vector<Row>{}, dropout);
        for (size_t segment = 0; own && segment < found.size(); ++segment)
            sums[2 * rows.first_slots[i] + segment] = found[segment];
    }
    return sums;
}

void sum_over_ranks(Groups& groups, std::vector<double>& values) {
    if (values.empty()) return;
    const auto count = static_cast<int64_t>(values.size());
    at::Tensor sums = at::from_blob(values.data(), {count}, at::kDouble).clone().to(groups.device());
    groups.world().all_reduce(sums).wait();
    sums = sums.cpu();
    std::copy_n(sums.const_data_ptr<double>(), values.size(), values.begin());
}

std::map<int64_t, double> label_log_probs(Groups& groups, MeshPass& pass, const StepRows& rows) {
    std::vector<double> sums = local_segment_sums(pass, rows, false);
    sum_over_ranks(groups, sums);
    std::map<int64_t, double> log_probs;
    size_t slot = 0;
    for (const Row& row : rows.documents) {
        for (const int64_t place : label_places(row)) log_probs[place] = sums[2 * slot++];
    }
    return log_probs;
}

namespace {

/// Returns the sums of a step's segments over all ranks, and then, for KTO, those of its mismatched rows.
std::vector<double> all_sums(Groups& groups, MeshPass& pass, const StepRows& rows, const StepRows* mismatched,
                             bool dropout) {
    std::vector<double> sums = local_segment_sums(pass, rows, dropout);
    if (mismatched != nullptr) {
        const std::vector<double> more = local_segment_sums(pass, *mismatched, dropout);
        sums.insert(sums.end(), more.begin(), more.end());
    }
    sum_over_ranks(groups, sums);
    return sums;
}

std::vector<DocumentSums> documents_of(const Preference& preference, const StepRows& rows,
                                       const std::vector<double>& sums, const PreferenceFacts& facts) {
    std::vector<DocumentSums> documents;
    for (size_t i = 0; i < rows.documents.size(); ++i) {
        const Row& row = rows.documents[i];
        DocumentSums& document = documents.emplace_back();
        document.completion = sums[2 * i];
        document.prompt = sums[2 * i + 1];
        document.completion_labels = row.valid_labels();
        if (preference.learns_prompt() && i % 2 == 0)
            document.prompt_labels = row.tokens() - 1 - document.completion_labels;
        if (preference.has_reference()) document.reference = facts.reference(key_of(row));
        if (!preference.has_pairs()) document.desirable = facts.is_desirable(row.place);
    }
    return documents;
}

std::vector<RolloutSums> rollouts_of(const Config& config, const StepRows& rows,
                                     const std::vector<double>& sums, const PreferenceFacts& facts) {
    const bool compares = has_reference(config);
    std::vector<RolloutSums> documents;
    size_t slot = 0;
    for (const Row& row : rows.documents) {
        RolloutSums& document = documents.emplace_back();
        document.advantage = facts.advantage(row.place);
        std::vector<double> sampled;
        for (const int64_t place : label_places(row)) {
            const double log_p = sums[2 * slot++];
            document.log_p.push_back(log_p);
            document.old_log_p.push_back(facts.old_log_p(place).value_or(log_p));
            if (compares) document.reference.push_back(facts.reference({place, place}));
            if (facts.sampled_log_p) sampled.push_back(facts.sampled_log_p(place));
        }
        if (!facts.sampled_log_p) continue;
        document.factors = importance_factors(*config.sampling->server, document.log_p, sampled);
        for (size_t i = 0; i < sampled.size(); ++i)
            document.sampler_gap += std::abs(document.log_p[i] - sampled[i]);
    }
    return documents;
}

SegmentWeights weights_of(const Config& config, const StepRows& rows, const PreferenceLoss& loss) {
    SegmentWeights weights{{}, rows.slots};
    for (size_t i = 0; i < rows.micro_batches.size(); ++i) {
        std::vector<double>& of_segments = weights.of_micro_batches.emplace_back();
        const size_t count = slot_keys(config, rows.micro_batches[i]).size();
        for (size_t slot = rows.first_slots[i]; slot < rows.first_slots[i] + count; ++slot) {
            of_segments.push_back(-loss.slopes[slot].completion);
            of_segments.push_back(-loss.slopes[slot].prompt);
        }
    }
    return weights;
}

/// Returns the mean of log p − reference over the mismatched rows; `sums` has their sums after the step's.
double divergence_of(const StepRows& rows, const MismatchedRows& mismatched, const std::vector<double>& sums,
                     const PreferenceFacts& facts) {
    const size_t documents = rows.documents.size();
    double divergence = 0;
    for (size_t i = 0; i < documents; ++i)
        divergence += (sums[2 * (documents + i)] - facts.reference(mismatched.keys()[i])) /
                      static_cast<double>(documents);
    return divergence;
}

PreferenceLoss loss_of(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                       const PreferenceFacts& facts, bool dropout) {
    const Preference& preference = plan.config.preference;
    const std::optional<PolicyRule>& policy = plan.config.policy;
    if (policy || preference.has_pairs()) {
        const std::vector<double> sums = all_sums(groups, pass, rows, nullptr, dropout);
        if (policy) return policy_loss(*policy, rollouts_of(plan.config, rows, sums, facts));
        return preference_loss(preference, documents_of(preference, rows, sums, facts));
    }
    const MismatchedRows mismatched(plan.config, rows.documents);
    const StepRows others = step_rows(plan, mismatched.rows(), groups.rank());
    const std::vector<double> sums = all_sums(groups, pass, rows, &others, dropout);
    return preference_loss(preference, documents_of(preference, rows, sums, facts),
                           divergence_of(rows, mismatched, sums, facts));
}

}  // namespace

WeighedStep weigh_step(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                       const PreferenceFacts& facts, bool dropout) {
    PreferenceLoss loss = loss_of(plan, groups, pass, rows, facts, dropout);
    SegmentWeights weights = weights_of(plan.config, rows, loss);
    return {std::move(loss), std::move(weights)};
}

MeshPass::Result learn_step(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                            const PreferenceFacts& facts, std::optional<PreferenceLoss>& preferred) {
    if (!weighs_documents(plan.config))
        return pass.forward_backward(rows.micro_batches, rows.rounds, rows.scale());
    WeighedStep weighed = weigh_step(plan, groups, pass, rows, facts, true);
    preferred = std::move(weighed.loss);
    return pass.forward_backward(rows.micro_batches, rows.rounds, 1, Gradients::OfAllRanks, &weighed.weights);
}

}  // namespace ringmaster
