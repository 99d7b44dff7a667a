#include <algorithm>
#include <cstring>

#include "engine/kernels/key_softmax.h"

namespace ringmaster {

namespace {

float widened(Bf16 x) {
    const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace

void pack_rows(const Bf16* x, int64_t stride, int64_t rows, int64_t columns, Bf16* panels) {
    std::fill_n(panels, even(rows) * panel_columns(columns), Bf16{0});
    for (int64_t r = 0; r < rows; ++r, x += stride) {
        for (int64_t panel = 0; panel < columns; panel += kPanel) {
            Bf16* pairs = panels + panel * even(rows) + r / 2 * 2 * kPanel + r % 2;
            const int64_t count = std::min(kPanel, columns - panel);
            for (int64_t c = 0; c < count; ++c) pairs[2 * c] = x[panel + c];
        }
    }
}

void pack_transposed(const Bf16* x, int64_t stride, int64_t rows, int64_t columns, Bf16* panels) {
    std::fill_n(panels, rows * panel_columns(columns), Bf16{0});
    for (int64_t c = 0; c < columns; ++c, x += stride) {
        Bf16* pairs = panels + c / kPanel * kPanel * rows + c % kPanel * 2;
        for (int64_t r = 0; r < rows; r += 2) std::memcpy(pairs + r * kPanel, x + r, 2 * sizeof(Bf16));
    }
}

void plain_panel_product(int64_t M, int64_t N, int64_t K, const Bf16* a, int64_t a_stride, const Bf16* panels,
                         float* c, int64_t c_stride, bool add) {
    for (int64_t m = 0; m < M; ++m, a += a_stride, c += c_stride) {
        if (!add) std::fill_n(c, N, 0.0F);
        for (int64_t panel = 0; panel < N; panel += kPanel) {
            for (int64_t k = 0; k < K; ++k) {
                const Bf16* pairs = panels + panel * K + k / 2 * 2 * kPanel + k % 2;
                const int64_t count = std::min(kPanel, N - panel);
                for (int64_t n = 0; n < count; ++n) c[panel + n] += widened(a[k]) * widened(pairs[2 * n]);
            }
        }
    }
}

}  // namespace ringmaster
