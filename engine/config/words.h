/// Converts words of the YAML (or of a plan.json) to enumeration values; the inverse of to_string.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/precision.h"

namespace ringmaster {

template <class Enum>
const std::vector<Enum>& all_values();

template <>
inline const std::vector<Precision>& all_values<Precision>() {
    static const std::vector<Precision> values{Precision::Float32, Precision::Bf16Mixed, Precision::Bf16Full,
                                               kFp16Mixed};
    return values;
}

template <>
inline const std::vector<RingAttnFunc>& all_values<RingAttnFunc>() {
    using enum RingAttnFunc;
    static const std::vector<RingAttnFunc> values{
        Default, BatchRing, BatchZigzag, BatchStripe, VarlenLlama3, VarlenRing, VarlenZigzag, Balanced, Auto};
    return values;
}

template <>
inline const std::vector<LrScheduler>& all_values<LrScheduler>() {
    using enum LrScheduler;
    static const std::vector<LrScheduler> values{
        Linear,     Cosine,      Constant,        ConstantWithWarmup,    CosineWithRestarts,
        Polynomial, InverseSqrt, CosineWithMinLr, CosineWarmupWithMinLr, WarmupStableDecay,
        Rex,        OneCycle};
    return values;
}

template <>
inline const std::vector<ExcessLength>& all_values<ExcessLength>() {
    using enum ExcessLength;
    static const std::vector<ExcessLength> values{Drop, Truncate, Raise};
    return values;
}

template <>
inline const std::vector<WeightFormat>& all_values<WeightFormat>() {
    using enum WeightFormat;
    static const std::vector<WeightFormat> values{Plain, Nf4, Fp4, Int8};
    return values;
}

template <>
inline const std::vector<PreferenceMethod>& all_values<PreferenceMethod>() {
    using enum PreferenceMethod;
    static const std::vector<PreferenceMethod> values{None, Dpo, Orpo, Simpo, Kto, Reward};
    return values;
}

template <>
inline const std::vector<PairLoss>& all_values<PairLoss>() {
    using enum PairLoss;
    static const std::vector<PairLoss> values{Sigmoid, Hinge,   Ipo,     Robust,   Sft,     SigmoidNorm,
                                              ExoPair, NcaPair, BcoPair, SppoHard, ApoZero, ApoDown};
    return values;
}

template <>
inline const std::vector<PolicyLoss>& all_values<PolicyLoss>() {
    using enum PolicyLoss;
    static const std::vector<PolicyLoss> values{Grpo, Dapo, DrGrpo};
    return values;
}

template <>
inline const std::vector<RewardScale>& all_values<RewardScale>() {
    using enum RewardScale;
    static const std::vector<RewardScale> values{Group, Batch, None};
    return values;
}

template <>
inline const std::vector<ImportanceRatio>& all_values<ImportanceRatio>() {
    using enum ImportanceRatio;
    static const std::vector<ImportanceRatio> values{TokenTruncate, TokenMask, SequenceTruncate,
                                                     SequenceMask};
    return values;
}

template <class Enum>
std::optional<Enum> from_word(std::string_view word) {  ///< nullopt: no such word
    for (Enum value : all_values<Enum>()) {
        if (word == to_string(value)) return value;
    }
    return std::nullopt;
}

template <class Enum>
std::vector<std::string> words_of() {
    std::vector<std::string> words;
    for (Enum value : all_values<Enum>()) words.emplace_back(to_string(value));
    return words;
}

}  // namespace ringmaster
