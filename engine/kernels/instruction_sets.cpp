#include "engine/kernels/fused.h"

#include "engine/kernels/block_optimizer.h"
#include "engine/kernels/block_softmax.h"
#include "engine/kernels/decode.h"
#include "engine/kernels/expert_rows.h"
#include "engine/kernels/four_bit.h"
#include "engine/kernels/key_softmax.h"
#include "engine/kernels/scan.h"

namespace ringmaster {

#define RINGMASTER_DECLARE_KERNELS(isa)             \
    namespace isa {                                 \
    extern const FusedKernels<float> kFloatKernels; \
    extern const FusedKernels<Bf16> kBf16Kernels;   \
    extern const FusedKernels<Fp16> kFp16Kernels;   \
    extern const BlockOptimizer kBlockOptimizer;    \
    extern const BlockSoftmax kBlockSoftmax;        \
    extern const KeySoftmax kKeySoftmax;            \
    extern const FourBitKernels kFourBit;           \
    extern const DecodeKernels<float> kFloatDecode; \
    extern const DecodeKernels<Bf16> kBf16Decode;   \
    extern const DecodeKernels<Fp16> kFp16Decode;   \
    extern const ExpertRows<float> kFloatExperts;   \
    extern const ExpertRows<Bf16> kBf16Experts;     \
    extern const ExpertRows<Fp16> kFp16Experts;     \
    extern const ScanKernels<float> kFloatScan;     \
    extern const ScanKernels<double> kDoubleScan;   \
    }
RINGMASTER_DECLARE_KERNELS(avx512)
RINGMASTER_DECLARE_KERNELS(avx2)
RINGMASTER_DECLARE_KERNELS(plain)

namespace {

enum class Isa { Plain, Avx2, Avx512 };

Isa detect() {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
        return Isa::Avx512;
    }
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Isa::Avx2 : Isa::Plain;
}

Isa isa() {
    static const Isa found = detect();
    return found;
}

template <typename Kernels>
const Kernels& found(const Kernels& avx512, const Kernels& avx2, const Kernels& plain) {
    return isa() == Isa::Avx512 ? avx512 : isa() == Isa::Avx2 ? avx2 : plain;
}

}  // namespace

template <>
const FusedKernels<float>& fused<float>() {
    return found(avx512::kFloatKernels, avx2::kFloatKernels, plain::kFloatKernels);
}

template <>
const FusedKernels<Bf16>& fused<Bf16>() {
    return found(avx512::kBf16Kernels, avx2::kBf16Kernels, plain::kBf16Kernels);
}

template <>
const FusedKernels<Fp16>& fused<Fp16>() {
    return found(avx512::kFp16Kernels, avx2::kFp16Kernels, plain::kFp16Kernels);
}

template <>
const DecodeKernels<float>& decode_kernels<float>() {
    return found(avx512::kFloatDecode, avx2::kFloatDecode, plain::kFloatDecode);
}

template <>
const DecodeKernels<Bf16>& decode_kernels<Bf16>() {
    return found(avx512::kBf16Decode, avx2::kBf16Decode, plain::kBf16Decode);
}

template <>
const DecodeKernels<Fp16>& decode_kernels<Fp16>() {
    return found(avx512::kFp16Decode, avx2::kFp16Decode, plain::kFp16Decode);
}

template <>
const ExpertRows<float>& expert_rows_kernels<float>() {
    return found(avx512::kFloatExperts, avx2::kFloatExperts, plain::kFloatExperts);
}

template <>
const ExpertRows<Bf16>& expert_rows_kernels<Bf16>() {
    return found(avx512::kBf16Experts, avx2::kBf16Experts, plain::kBf16Experts);
}

template <>
const ExpertRows<Fp16>& expert_rows_kernels<Fp16>() {
    return found(avx512::kFp16Experts, avx2::kFp16Experts, plain::kFp16Experts);
}

template <>
const ScanKernels<float>& scan_kernels<float>() {
    return found(avx512::kFloatScan, avx2::kFloatScan, plain::kFloatScan);
}

template <>
const ScanKernels<double>& scan_kernels<double>() {
    return found(avx512::kDoubleScan, avx2::kDoubleScan, plain::kDoubleScan);
}

const BlockOptimizer& block_optimizer() {
    return found(avx512::kBlockOptimizer, avx2::kBlockOptimizer, plain::kBlockOptimizer);
}

const BlockSoftmax& block_softmax() {
    return found(avx512::kBlockSoftmax, avx2::kBlockSoftmax, plain::kBlockSoftmax);
}

const KeySoftmax& key_softmax() {
    return found(avx512::kKeySoftmax, avx2::kKeySoftmax, plain::kKeySoftmax);
}

const FourBitKernels& four_bit() {
    return found(avx512::kFourBit, avx2::kFourBit, plain::kFourBit);
}

}  // namespace ringmaster
