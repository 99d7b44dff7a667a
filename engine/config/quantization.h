/// Describes how the frozen linear weights of a base model are quantised, as by bitsandbytes. Source:
/// Dettmers et al. 2023, "QLoRA", section 3; the formats are those of bitsandbytes 0.50.
#pragma once

#include <cstdint>

namespace ringmaster {

enum class WeightFormat {
    Plain,  ///< not quantised
    Nf4,    ///< 4 bits, quantiles of a normal distribution
    Fp4,    ///< 4 bits: sign, 2 of the exponent, 1 of the mantissa
    Int8    ///< 8 bits, one scale per row
};

struct Quantization {
    WeightFormat format = WeightFormat::Plain;
    int64_t block = 64;    ///< elements per scale; only for 4-bit formats
    bool nested = true;    ///< scales are themselves quantised to 8 bits; only for 4-bit formats
    bool stored = false;   ///< the model's folder holds the quantised weights
    bool experts = false;  ///< the parameters that hold a mixture's experts are quantised too

    bool on() const { return format != WeightFormat::Plain; }
    bool is_4bit() const { return format == WeightFormat::Nf4 || format == WeightFormat::Fp4; }
};

const char* to_string(WeightFormat format);  ///< "none", "nf4", "fp4", "int8"

}  // namespace ringmaster
