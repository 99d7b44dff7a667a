#include "engine/attention/panel_products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/plan/speeds.h"

namespace ringmaster {
namespace {

Bf16* bits(const at::Tensor& x) {
    return static_cast<Bf16*>(x.data_ptr());
}

at::Tensor random_bf16(int64_t rows, int64_t columns) {
    return at::randn({rows, columns}).to(at::kBFloat16);
}

at::Tensor packed(const at::Tensor& x) {
    at::Tensor panels = at::full({even(x.size(0)) * panel_columns(x.size(1))}, NAN, at::kBFloat16);
    pack_rows(bits(x), x.size(1), x.size(0), x.size(1), bits(panels));
    return panels;
}

TEST(PanelProducts, OfAPackedMatrixAreLibTorchs) {
    at::manual_seed(1);
    for (const auto& [M, N, K] : {std::tuple{3, 64, 2}, {7, 130, 5}, {33, 96, 64}, {1, 1, 1}}) {
        at::Tensor a = at::zeros({M, even(K)}, at::kBFloat16);
        a.narrow(1, 0, K).copy_(random_bf16(M, K));
        const at::Tensor b = random_bf16(K, N), panels = packed(b);
        const at::Tensor truth = at::mm(a.narrow(1, 0, K).to(at::kDouble), b.to(at::kDouble));
        at::Tensor c = at::full({M, N + 3}, 2.0F);
        plain_panel_product(M, N, even(K), bits(a), even(K), bits(panels), c.data_ptr<float>(), N + 3, true);
        EXPECT_TRUE(at::allclose(c.narrow(1, 0, N).to(at::kDouble), truth + 2, 1e-5, 1e-5));
        EXPECT_TRUE(at::equal(c.narrow(1, N, 3), at::full({M, 3}, 2.0F)));
        plain_panel_product(M, N, even(K), bits(a), even(K), bits(panels), c.data_ptr<float>(), N + 3, false);
        EXPECT_TRUE(at::allclose(c.narrow(1, 0, N).to(at::kDouble), truth, 1e-5, 1e-5));
    }
}

TEST(PanelProducts, TakeATransposeAsItsRows) {
    const at::Tensor x = random_bf16(70, 34);
    at::Tensor panels = at::full({34 * panel_columns(70)}, NAN, at::kBFloat16);
    pack_transposed(bits(x), 34, 34, 70, bits(panels));
    EXPECT_TRUE(at::equal(panels, packed(x.t().contiguous())));
}

/// The engine uses the processor's bfloat16 instructions whenever they exist. LibTorch's CPU attention leaves
/// AVX-512 BF16 unused, because its check (could_pack) only knows AMX.
TEST(PanelProducts, AreTheProcessorsWhereItHasThem) {
    const at::Tensor of_a_model = at::empty({1, 1, 4, 64}, at::kBFloat16);
    const bool has_them = cpu_has_bfloat16() || std::getenv("RINGMASTER_CPU_PRODUCTS") != nullptr;
    EXPECT_EQ(products_for(of_a_model) != nullptr, has_them);
}

TEST(PanelProducts, AreForBfloat16Alone) {
    EXPECT_EQ(products_for(at::empty({1, 1, 4, 64})), nullptr);
    EXPECT_EQ(products_for(at::empty({1, 1, 4, 63}, at::kBFloat16)), nullptr);
}

}  // namespace
}  // namespace ringmaster
