#include "engine/train/preference_pass.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringmaster {

namespace {

void append(std::vector<int32_t>& to, std::span<const int32_t> from) {
    to.insert(to.end(), from.begin(), from.end());
}

DocumentKey key_of(const Row& document) {
    return {document.place, document.place};
}

}  // namespace

MismatchedRows::MismatchedRows(const Config& config, const std::vector<Row>& documents) {
    const auto longest = static_cast<size_t>(config.sequence_len);
    std::vector<std::vector<int64_t>> ends;  // of each row's documents
    ids_.reserve(documents.size());          // rows refer to their elements
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
        const bool joins = config.sample_packing && !ids_.empty() && ids_.back().size() + ids.size() <= longest;
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
    std::vector<double> sums(2 * rows.documents.size());
    for (size_t i = 0; i < rows.rounds; ++i) {
        const bool own = i < rows.micro_batches.size();
        const std::vector<double> found =
            pass.segment_sums(own ? rows.micro_batches[i] : std::vector<Row>{}, dropout);
        for (size_t segment = 0; own && segment < found.size(); ++segment)
            sums[2 * rows.first_documents[i] + segment] = found[segment];
    }
    return sums;
}

void sum_over_ranks(Groups& groups, std::vector<double>& values) {
    const auto count = static_cast<int64_t>(values.size());
    at::Tensor sums = at::from_blob(values.data(), {count}, at::kDouble).clone().to(groups.device());
    groups.world().all_reduce(sums).wait();
    sums = sums.cpu();
    std::copy_n(sums.const_data_ptr<double>(), values.size(), values.begin());
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

SegmentWeights weights_of(const StepRows& rows, const PreferenceLoss& loss) {
    SegmentWeights weights{{}, rows.documents.size()};
    for (size_t i = 0; i < rows.micro_batches.size(); ++i) {
        std::vector<double>& of_segments = weights.of_micro_batches.emplace_back();
        size_t document = rows.first_documents[i];
        for (const Row& row : rows.micro_batches[i]) {
            for (size_t in_row = 0; in_row < row.document_ends.size(); ++in_row, ++document) {
                of_segments.push_back(-loss.slopes[document].completion);
                of_segments.push_back(-loss.slopes[document].prompt);
            }
        }
    }
    return weights;
}

}  // namespace

WeighedStep weigh_step(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                       const PreferenceFacts& facts, bool dropout) {
    const Preference& preference = plan.config.preference;
    if (preference.has_pairs()) {
        const std::vector<double> sums = all_sums(groups, pass, rows, nullptr, dropout);
        PreferenceLoss loss = preference_loss(preference, documents_of(preference, rows, sums, facts));
        SegmentWeights weights = weights_of(rows, loss);
        return {std::move(loss), std::move(weights)};
    }
    const MismatchedRows mismatched(plan.config, rows.documents);
    const StepRows others = step_rows(plan, mismatched.rows(), groups.rank());
    const std::vector<double> sums = all_sums(groups, pass, rows, &others, dropout);
    const size_t documents = rows.documents.size();
    double kl = 0;
    for (size_t i = 0; i < documents; ++i)
        kl += (sums[2 * (documents + i)] - facts.reference(mismatched.keys()[i])) / static_cast<double>(documents);
    PreferenceLoss loss = preference_loss(preference, documents_of(preference, rows, sums, facts), kl);
    SegmentWeights weights = weights_of(rows, loss);
    return {std::move(loss), std::move(weights)};
}

MeshPass::Result learn_step(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                            const PreferenceFacts& facts, std::optional<PreferenceLoss>& preferred) {
    if (!plan.config.preference.on())
        return pass.forward_backward(rows.micro_batches, rows.rounds, rows.scale());
    WeighedStep weighed = weigh_step(plan, groups, pass, rows, facts, true);
    preferred = std::move(weighed.loss);
    return pass.forward_backward(rows.micro_batches, rows.rounds, 1, Gradients::OfAllRanks, &weighed.weights);
}

}  // namespace ringmaster
