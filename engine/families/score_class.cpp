#include "engine/families/score_class.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace ringmaster {

void describe_scores(const ModelConfig& model, nlohmann::ordered_json& config) {
    nlohmann::ordered_json names = nlohmann::ordered_json::object(), indices = names;
    for (int64_t label = 0; label < model.num_labels; ++label) {
        names[std::to_string(label)] = "LABEL_" + std::to_string(label);
        indices["LABEL_" + std::to_string(label)] = label;
    }
    config["id2label"] = names;
    config["label2id"] = indices;
    constexpr std::string_view kCausal = "ForCausalLM";
    for (auto& architecture : config["architectures"]) {
        const auto name = architecture.is_string() ? architecture.get<std::string>() : "";
        if (name.ends_with(kCausal))
            architecture = name.substr(0, name.size() - kCausal.size()) +
                           (model.head_bias ? "ForTokenClassification" : "ForSequenceClassification");
    }
}

}  // namespace ringmaster
