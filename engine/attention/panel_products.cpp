#include "engine/attention/panel_products.h"

#include <ATen/ATen.h>
#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "engine/error.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

namespace {

constexpr const char* kSwitch = "RINGMASTER_CPU_PRODUCTS";

const at::BFloat16* elements(const Bf16* x) {
    return reinterpret_cast<const at::BFloat16*>(x);
}

/// Multiplies with oneDNN, through LibTorch, a panel at a time.
void processor_product(int64_t M, int64_t N, int64_t K, const Bf16* a, int64_t a_stride, const Bf16* panels,
                       float* c, int64_t c_stride, bool add) {
    for (int64_t n = 0; n < N; n += kPanel)
        at::native::cpublas::brgemm(M, std::min(kPanel, N - n), K, a_stride, kPanel, c_stride, add,
                                    elements(a), elements(panels + n * K), c + n);
}

constexpr PanelProducts kPlain = {plain_panel_product, [] {}};
constexpr PanelProducts kProcessor = {processor_product, [] { at::native::cpublas::brgemm_release(); }};

at::Tensor random_bf16(int64_t rows, int64_t columns) {
    const at::Tensor x = at::arange(rows * columns, at::kFloat).mul_(0.7).sin_();
    return x.view({rows, columns}).to(at::kBFloat16);
}

/// Returns true if the products agree with the plain ones, whether they overwrite a result or add to it.
bool is_as_plain(const PanelProducts& products, int64_t M, int64_t N, int64_t K) {
    const at::Tensor a = random_bf16(M, K), b = random_bf16(K, N);
    at::Tensor panels = at::empty({K * panel_columns(N)}, at::kBFloat16);
    const auto bits = [](const at::Tensor& x) { return static_cast<Bf16*>(x.data_ptr()); };
    pack_rows(bits(b), N, K, N, bits(panels));
    at::Tensor fast = at::ones({M, N}), plain = at::ones({M, N});
    for (const bool add : {false, true}) {
        products.product(M, N, K, bits(a), K, bits(panels), fast.data_ptr<float>(), N, add);
        plain_panel_product(M, N, K, bits(a), K, bits(panels), plain.data_ptr<float>(), N, add);
    }
    products.release();
    return at::allclose(fast, plain, 1e-3, 1e-3);
}

/// Tests the processor instead of asking LibTorch: could_pack knows only AMX, but AVX-512 BF16 works too.
bool processor_has_them() {
    if (!cpu_has_bfloat16()) return false;
    try {
        return is_as_plain(kProcessor, 5, 144, 6) && is_as_plain(kProcessor, 64, 256, 64);
    } catch (const std::exception&) {  // LibTorch was built without these products
        return false;
    }
}

const PanelProducts* chosen() {
    const char* wanted = std::getenv(kSwitch);
    const std::string name = wanted == nullptr ? "" : wanted;
    if (name == "plain") return &kPlain;
    if (name == "float32") return nullptr;
    if (!name.empty())
        throw Error(Failure::Usage, Code("ENGINE-SWITCH"), "there is no '" + name + "'", kSwitch,
                    "plain or float32, or run without it");
    return processor_has_them() ? &kProcessor : nullptr;
}

}  // namespace

const PanelProducts* products_for(const at::Tensor& q_bhtd) {
    static const PanelProducts* const products = chosen();
    const bool serves = q_bhtd.scalar_type() == at::kBFloat16 && q_bhtd.size(3) % 2 == 0;
    return serves ? products : nullptr;
}

}  // namespace ringmaster
