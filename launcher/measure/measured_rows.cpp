#include "launcher/measure/measured_rows.h"

#include <cmath>
#include <random>
#include <vector>

#include "engine/config/sequences_per_row.h"
#include "engine/files/safetensors.h"

namespace ringmaster {

namespace {

constexpr int32_t kNoLabel = -100;  // as in engine/data/tokens.h

struct Made {
    std::vector<int32_t> ids, labels, desirable;
    std::vector<int64_t> rows = {0}, documents = {0};
    std::vector<double> advantages;
};

/// Labels the document that begins at `begin` and ends with the last id.
void label(const Config& config, size_t begin, Made& made) {
    made.labels.resize(made.ids.size(), kNoLabel);
    if (config.preference.scores()) {
        made.labels.back() = 0;
        return;
    }
    for (size_t place = begin; place < made.ids.size(); ++place)
        made.labels[place] = config.token_labels > 0
                                 ? static_cast<int32_t>(made.ids[place] % config.token_labels)
                                 : made.ids[place];
}

Made make(const Plan& plan) {
    const Config& config = plan.config;
    std::minstd_rand random(1);
    const auto vocabulary = static_cast<uint64_t>(plan.model->vocab_size);
    const int64_t documents = config.preference.has_pairs() ? 2 : 1;
    const int64_t length = plan.sequence.length * sequences_per_row(config) / documents;
    Made made;
    for (int64_t row = 0; row < plan.batch.global; ++row) {
        for (int64_t document = 0; document < documents; ++document) {
            const size_t begin = made.ids.size();
            for (int64_t token = 0; token < length; ++token)
                made.ids.push_back(static_cast<int32_t>(random() % vocabulary));
            label(config, begin, made);
            made.documents.push_back(static_cast<int64_t>(made.ids.size()));
            made.desirable.push_back(row % 2 == 0 ? 1 : 0);
            made.advantages.push_back(row % 2 == 0 ? 1 : -1);
        }
        made.rows.push_back(static_cast<int64_t>(made.ids.size()));
    }
    return made;
}

}  // namespace

void write_measured_rows(const std::filesystem::path& file, const Plan& plan) {
    const Config& config = plan.config;
    const Made made = make(plan);
    std::vector<TensorInfo> tensors;
    std::string bytes;
    const auto add = [&]<typename T>(const char* name, const char* dtype, const std::vector<T>& values) {
        tensors.push_back({name, dtype, {static_cast<int64_t>(values.size())}});
        bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    };
    add("row_offsets", "I64", made.rows);
    if (weighs_documents(config)) add("document_offsets", "I64", made.documents);
    if (config.policy) {
        add("advantages", "F64", made.advantages);
        add("old_log_probabilities", "F64", std::vector<double>(made.ids.size(), NAN));
    }
    add("input_ids", "I32", made.ids);
    add("labels", "I32", made.labels);
    if (config.preference.method == PreferenceMethod::Kto) add("desirable", "I32", made.desirable);
    if (config.preference.scores() || config.token_labels > 0)
        add("own_labels", "I32", std::vector<int32_t>{1});
    SafetensorsWriter writer(file, tensors);
    writer.write(bytes.data(), bytes.size());
    writer.finish();
}

}  // namespace ringmaster
