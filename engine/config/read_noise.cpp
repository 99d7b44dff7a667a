// Reads neftune_noise_alpha. The noise depends on the length that axolotl's collator pads a micro-batch to.
#include <cmath>

#include "engine/config/keys.h"
#include "engine/config/noise.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr const char* kAlpha = "neftune_noise_alpha";
constexpr const char* kOldName = "noisy_embedding_alpha";
// The key in optim_args that holds the multiple.
constexpr const char* kMultiple = "neftune_length_multiple";

bool is_asked(KeyReader& keys, const char* key) {
    const json* said = keys.find(key);
    return said && ringmaster::is_on(*said);
}

/// Returns the name of the key that the file sets. axolotl refuses a file that sets both names.
const char* name_of_alpha(KeyReader& keys) {
    if (!is_asked(keys, kOldName)) return kAlpha;
    if (is_asked(keys, kAlpha)) {
        keys.error(Form("CFG-CONFLICT", "noise"), kOldName);
        return kAlpha;
    }
    std::vector<Fix> fixes;
    if (!keys.has(kAlpha)) fixes.push_back(keys.renaming(kOldName, kAlpha));
    keys.warn(Form("CFG-DEPRECATED", "renamed"), kOldName, {{"name", kAlpha}}, std::move(fixes));
    return kOldName;
}

/// Returns the number that the lengths padded by axolotl are a multiple of. Packed rows are always padded.
int64_t length_multiple(KeyReader& keys, const Config& config) {
    constexpr int64_t kAxolotls = 64;
    const json* pad = keys.find("pad_to_sequence_len");
    const bool is_off = pad && !pad->is_null() && !config.padding.to_sequence_len;
    const int64_t asked = keys.whole("pad_to_multiple_of", {0}).value_or(0);
    return is_off ? 1 : asked > 0 ? asked : kAxolotls;
}

}  // namespace

void read_noise(KeyReader& keys, Config& config) {
    const double alpha = keys.number(name_of_alpha(keys)).value_or(0);
    if (alpha == 0) return;
    config.optim_args[kAlpha] = alpha;
    config.optim_args[kMultiple] = length_multiple(keys, config);
}

NoiseRule noise_rule(const Config& config) {
    return {config.optim_args.value(kAlpha, 0.0), config.optim_args.value(kMultiple, int64_t{1})};
}

double noise_limit(const NoiseRule& rule, int64_t length, int64_t width) {
    const int64_t padded = (length + rule.length_multiple - 1) / rule.length_multiple * rule.length_multiple;
    return rule.alpha / std::sqrt(double(padded) * double(width));
}

}  // namespace ringmaster
