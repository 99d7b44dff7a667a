/// Reads and writes elements of rows in float32, one by one or in packs, and distributes a row over lanes.
/// Serves our CUDA kernels (row_kernels.h) on the device and on the host.
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/kernels/fused.h"
#include "engine/kernels/half_bits.h"

#ifdef __CUDACC__
#define RINGMASTER_ROW __host__ __device__ inline
#else
#define RINGMASTER_ROW inline
#endif

namespace ringmaster {

namespace row_kernels {

RINGMASTER_ROW float load(const float& x) {
    return x;
}
RINGMASTER_ROW void store(float& to, float x) {
    to = x;
}
RINGMASTER_ROW float load(const Bf16& x) {
    const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
RINGMASTER_ROW void store(Bf16& to, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    to.bits = static_cast<uint16_t>(is_nan ? (bits >> 16) | 0x40 : rounded);
}

RINGMASTER_ROW float load(const Fp16& x) {
    return half_bits::widen(x.bits);
}
RINGMASTER_ROW void store(Fp16& to, float x) {
    to.bits = half_bits::narrow(x);
}

/// Holds neighbouring elements that a lane reads or writes at once: 16 bytes, the widest access of a device.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
    T at[N];
};
template <typename T>
inline constexpr int kPack = 16 / sizeof(T);

template <int N, typename T>
RINGMASTER_ROW Pack<T, N> load_pack(const T* from) {
#ifdef __CUDA_ARCH__
    return *reinterpret_cast<const Pack<T, N>*>(from);
#else
    Pack<T, N> pack;
    memcpy(&pack, from, sizeof pack);
    return pack;
#endif
}
template <int N, typename T>
RINGMASTER_ROW void store_pack(T* to, const Pack<T, N>& pack) {
#ifdef __CUDA_ARCH__
    *reinterpret_cast<Pack<T, N>*>(to) = pack;
#else
    memcpy(to, &pack, sizeof pack);
#endif
}

/// Returns true if rows of `width` elements that begin at `starts` can be read in packs.
template <typename T, typename... Starts>
RINGMASTER_ROW bool in_packs(int64_t width, const Starts*... starts) {
    return width % kPack<T> == 0 && ((reinterpret_cast<uintptr_t>(starts) % 16 == 0) && ...);
}

template <int N>
struct PackSize {
    static constexpr int value = N;
};

/// Distributes [0, width) over the lanes: body(w, PackSize<N>()) takes elements w to w + N, with N = kPack<T>
/// if `packs` is set and 1 otherwise.
template <typename T, typename Lanes, typename Body>
RINGMASTER_ROW void each_pack(Lanes& lanes, int64_t width, bool packs, const Body& body) {
    constexpr int64_t kStep = kPack<T>;
    if (packs) {
        for (int64_t w = lanes.index() * kStep; w < width; w += lanes.count() * kStep)
            body(w, PackSize<kStep>());
    } else {
        for (int64_t w = lanes.index(); w < width; w += lanes.count()) body(w, PackSize<1>());
    }
}

}  // namespace row_kernels

}  // namespace ringmaster
