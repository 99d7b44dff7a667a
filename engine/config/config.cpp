#include "engine/config/config.h"

#include "engine/config/precision.h"

namespace ringmaster {

const char* to_string(Precision precision) {
    if (precision == kFp16Mixed) return "fp16";
    switch (precision) {
        case Precision::Bf16Mixed:
            return "bf16";
        case Precision::Bf16Full:
            return "bf16_full";
        case Precision::Float32:
            break;
    }
    return "fp32";
}

const char* to_string(WeightFormat format) {
    switch (format) {
        case WeightFormat::Nf4:
            return "nf4";
        case WeightFormat::Fp4:
            return "fp4";
        case WeightFormat::Int8:
            return "int8";
        case WeightFormat::Plain:
            break;
    }
    return "none";
}

const char* to_string(PreferenceMethod method) {
    switch (method) {
        case PreferenceMethod::Dpo:
            return "dpo";
        case PreferenceMethod::Orpo:
            return "orpo";
        case PreferenceMethod::Simpo:
            return "simpo";
        case PreferenceMethod::Kto:
            return "kto";
        case PreferenceMethod::Reward:
            return "reward";
        case PreferenceMethod::None:
            break;
    }
    return "none";
}

const char* to_string(PairLoss loss) {
    constexpr const char* kWords[] = {"sigmoid",  "hinge",        "ipo",      "robust",
                                      "sft",      "sigmoid_norm", "exo_pair", "nca_pair",
                                      "bco_pair", "sppo_hard",    "apo_zero", "apo_down"};
    return kWords[static_cast<int>(loss)];
}

const char* to_string(RingAttnFunc func) {
    switch (func) {
        case RingAttnFunc::BatchRing:
            return "batch_ring";
        case RingAttnFunc::BatchZigzag:
            return "batch_zigzag";
        case RingAttnFunc::BatchStripe:
            return "batch_stripe";
        case RingAttnFunc::VarlenLlama3:
            return "varlen_llama3";
        case RingAttnFunc::VarlenRing:
            return "varlen_ring";
        case RingAttnFunc::VarlenZigzag:
            return "varlen_zigzag";
        case RingAttnFunc::Balanced:
            return "balanced";
        case RingAttnFunc::Auto:
            return "auto";
        case RingAttnFunc::Default:
            break;
    }
    return "default";
}

const char* to_string(LrScheduler scheduler) {
    switch (scheduler) {
        case LrScheduler::Linear:
            return "linear";
        case LrScheduler::Constant:
            return "constant";
        case LrScheduler::ConstantWithWarmup:
            return "constant_with_warmup";
        case LrScheduler::CosineWithRestarts:
            return "cosine_with_restarts";
        case LrScheduler::Polynomial:
            return "polynomial";
        case LrScheduler::InverseSqrt:
            return "inverse_sqrt";
        case LrScheduler::CosineWithMinLr:
            return "cosine_with_min_lr";
        case LrScheduler::CosineWarmupWithMinLr:
            return "cosine_warmup_with_min_lr";
        case LrScheduler::WarmupStableDecay:
            return "warmup_stable_decay";
        case LrScheduler::Rex:
            return "rex";
        case LrScheduler::OneCycle:
            return "one_cycle";
        case LrScheduler::Cosine:
            break;
    }
    return "cosine";
}

const char* to_string(ExcessLength strategy) {
    switch (strategy) {
        case ExcessLength::Truncate:
            return "truncate";
        case ExcessLength::Raise:
            return "raise";
        case ExcessLength::Drop:
            break;
    }
    return "drop";
}

}  // namespace ringmaster
