#include "engine/train/reference.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "engine/error.h"
#include "engine/files/safetensors.h"
#include "engine/train/rank_agreement.h"
#include "engine/train/run_log.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenWrites = std::chrono::seconds(60);

}  // namespace

ReferenceLogProbs::ReferenceLogProbs(const Plan& plan, Groups& groups, const TokenFile& tokens,
                                     std::filesystem::path file)
    : plan_(plan), groups_(groups), tokens_(tokens), file_(std::move(file)) {
    if (groups_.rank() == 0) read();
    share();
}

/// Reads the log-probabilities if the file was made from these tokens; otherwise `compute` makes them again.
void ReferenceLogProbs::read() {
    if (!std::filesystem::exists(file_)) return;
    try {
        const SafetensorsFile file(file_);
        const auto keys = file.elements<int64_t>("documents", "I64");
        const auto values = file.elements<double>("log_probabilities", "F64");
        const auto checksum = file.elements<int64_t>("checksum", "I64");
        if (checksum.size() != 1 || checksum[0] != tokens_.checksum() || keys.size() != 2 * values.size())
            return;
        for (size_t i = 0; i < values.size(); ++i) values_[{keys[2 * i], keys[2 * i + 1]}] = values[i];
    } catch (const Error& error) {
        log_line("warning: the reference's log-probabilities are computed again: " + error.text());
        values_.clear();
    }
}

void ReferenceLogProbs::write() const {
    std::vector<int64_t> keys;
    std::vector<double> values;
    for (const auto& [key, value] : values_) {
        keys.insert(keys.end(), {key.first, key.second});
        values.push_back(value);
    }
    const auto count = static_cast<int64_t>(values.size());
    const int64_t checksum = tokens_.checksum();
    SafetensorsWriter writer(
        file_,
        {{"documents", "I64", {count, 2}}, {"log_probabilities", "F64", {count}}, {"checksum", "I64", {1}}});
    writer.write(keys.data(), keys.size() * sizeof(int64_t));
    writer.write(values.data(), values.size() * sizeof(double));
    writer.write(&checksum, sizeof checksum);
    writer.finish();
}

/// Broadcasts rank 0's log-probabilities to all ranks.
void ReferenceLogProbs::share() {
    at::Tensor count = at::full({1}, static_cast<int64_t>(values_.size()), at::kLong).to(groups_.device());
    groups_.world().broadcast(count, 0).wait();
    if (count.item<int64_t>() == 0) return;
    at::Tensor keys = at::zeros({count.item<int64_t>(), 2}, at::kLong),
               values = at::zeros({keys.size(0)}, at::kDouble);
    int64_t row = 0;
    for (const auto& [key, value] : values_) {
        keys[row][0] = key.first;
        keys[row][1] = key.second;
        values[row++] = value;
    }
    keys = keys.to(groups_.device());
    values = values.to(groups_.device());
    groups_.world().broadcast(keys, 0).wait();
    groups_.world().broadcast(values, 0).wait();
    keys = keys.cpu();
    values = values.cpu();
    const auto key = keys.accessor<int64_t, 2>();
    const auto value = values.accessor<double, 1>();
    for (int64_t i = 0; i < values.size(0); ++i) values_[{key[i][0], key[i][1]}] = value[i];
}

double ReferenceLogProbs::of(const DocumentKey& key) const {
    return values_.at(key);
}

PreferenceFacts ReferenceLogProbs::facts() const {
    return {[this](const DocumentKey& key) { return of(key); },
            [this](int64_t place) { return tokens_.is_desirable(place); },
            {},
            {}};
}

std::vector<Row> ReferenceLogProbs::sequences(const std::vector<int64_t>& rows) const {
    return sequences_of(plan_.config, rows_of(tokens_, rows));
}

bool ReferenceLogProbs::knows(const std::vector<DocumentKey>& keys) const {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const DocumentKey& key) { return values_.contains(key); });
}

ReferenceLogProbs::Wanted ReferenceLogProbs::missing(Sampler sampler, int64_t steps) const {
    Wanted wanted;
    std::set<int64_t> seen;
    for (int64_t step = 0; step < steps; ++step) {
        const std::vector<int64_t> rows = sampler.next_step();
        std::vector<int64_t> some;
        for (const int64_t row : rows) {
            if (seen.insert(row).second && !knows(slot_keys(plan_.config, {tokens_.row(row)})))
                some.push_back(row);
        }
        const auto at_once = static_cast<size_t>(std::max<int64_t>(1, plan_.batch.global));
        for (size_t begin = 0; begin < some.size(); begin += at_once)
            wanted.rows.emplace_back(
                some.begin() + static_cast<std::ptrdiff_t>(begin),
                some.begin() + static_cast<std::ptrdiff_t>(std::min(begin + at_once, some.size())));
        if (plan_.config.preference.method != PreferenceMethod::Kto) {
            if (static_cast<int64_t>(seen.size()) == tokens_.rows()) break;
            continue;
        }
        if (!knows(MismatchedRows(plan_.config, step_rows(plan_, sequences(rows), groups_.rank()).documents)
                       .keys()))
            wanted.mismatched.push_back(rows);
    }
    return wanted;
}

void ReferenceLogProbs::add(MeshPass& pass, const std::vector<Row>& rows,
                            const std::vector<DocumentKey>& keys) {
    std::vector<double> sums = local_segment_sums(pass, step_rows(plan_, rows, groups_.rank()), false);
    sum_over_ranks(groups_, sums);
    for (size_t i = 0; i < keys.size(); ++i) values_[keys[i]] = sums[2 * i];
}

bool ReferenceLogProbs::compute(MeshPass& pass, Sampler sampler, int64_t steps,
                                const std::function<bool()>& wants_stop,
                                const std::function<void(int64_t done, int64_t total)>& told) {
    const Wanted wanted = missing(std::move(sampler), steps);
    const auto total = static_cast<int64_t>(wanted.rows.size() + wanted.mismatched.size());
    Clock::time_point written = Clock::now();
    for (int64_t i = 0; i < total; ++i) {
        told(i, total);
        const auto rows_before = static_cast<int64_t>(wanted.rows.size());
        if (i < rows_before) {
            const std::vector<Row> rows = sequences(wanted.rows[static_cast<size_t>(i)]);
            add(pass, rows, slot_keys(plan_.config, rows));
        } else {
            const std::vector<Row> rows = sequences(wanted.mismatched[static_cast<size_t>(i - rows_before)]);
            const MismatchedRows mismatched(plan_.config, step_rows(plan_, rows, groups_.rank()).documents);
            add(pass, mismatched.rows(), mismatched.keys());
        }
        const bool stops = largest_of_ranks(groups_, wants_stop() ? 1 : 0) > 0;
        const bool writes = stops || i + 1 == total || Clock::now() - written > kBetweenWrites;
        if (writes && groups_.rank() == 0) {
            write();
            written = Clock::now();
        }
        if (stops) return false;
    }
    return true;
}

}  // namespace ringmaster
