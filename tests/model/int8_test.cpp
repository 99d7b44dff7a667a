#include "engine/model/int8_product.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "engine/model/outlier_columns.h"
#include "tests/support/gpu.h"

namespace ringmaster {
namespace {

constexpr double kThreshold = 6;

at::Tensor columns(std::vector<int64_t> set, int64_t width) {
    at::Tensor mask_c = at::zeros({width}, at::kBool);
    for (const int64_t c : set) mask_c[c] = true;
    return mask_c;
}

Int8Matrix random_matrix(int64_t outputs, int64_t inputs) {
    return {at::randint(-127, 128, {outputs, inputs}).to(at::kChar), at::rand({outputs}) + 0.1};
}

/// Returns x with outliers in columns 2 and 5 of a few rows.
at::Tensor random_inputs(int64_t rows, int64_t width) {
    at::Tensor x_nc = at::randn({rows, width}).clamp_(-5, 5);
    x_nc[0][2] = 40;
    x_nc[rows - 1][5] = -6;
    return x_nc;
}

TEST(Int8Product, TheThresholdItselfIsAnOutlierInFloat16) {
    const at::Tensor x_nc = at::tensor({5.99F, 6.0F, -6.0F, 5.9999F, 0.0F, 0.0F}).view({2, 3});
    // 5.9999 rounds to 6 in float16, which makes its column an outlier. It is in the second row, which the
    // second call leaves out.
    EXPECT_TRUE(at::equal(outlier_columns(x_nc, kThreshold, {}), columns({0, 1, 2}, 3)));
    const at::Tensor first = at::tensor({1, 0}).to(at::kBool);
    EXPECT_TRUE(at::equal(outlier_columns(x_nc, kThreshold, first), columns({1, 2}, 3)));
    EXPECT_TRUE(at::equal(outlier_columns(x_nc, 0, {}), columns({}, 3)));
}

TEST(Int8Product, RowsOfZerosAndOfOutliersHaveCodesOfZero) {
    const at::Tensor x_nc = at::tensor({0.0F, 0.0F, 7.0F, 8.0F}).view({2, 2});
    const Int8Matrix rows = quantize_inputs(x_nc, outlier_columns(x_nc, kThreshold, {}), kThreshold);
    EXPECT_TRUE(rows.codes_oc.eq(0).all().item<bool>());
    EXPECT_TRUE(rows.scales_o.eq(0).all().item<bool>());
}

TEST(Int8Product, ANumberThatIsNotFiniteStaysSo) {
    at::Tensor x_nc = at::randn({3, 8});
    x_nc[1][4] = std::numeric_limits<float>::quiet_NaN();
    const at::Tensor y_no =
        int8_linear(x_nc, {random_matrix(5, 8)}, {}, outlier_columns(x_nc, kThreshold, {}), kThreshold);
    EXPECT_TRUE(y_no[1].isnan().all().item<bool>());
    EXPECT_TRUE(y_no[0].isfinite().all().item<bool>() && y_no[2].isfinite().all().item<bool>());
}

TEST(Int8Product, IntegerProductsAreExact) {
    at::manual_seed(2);
    const at::Tensor a = at::full({5, 1501}, 127, at::kChar),
                     b = at::randint(-127, 128, {7, 1501}).to(at::kChar);
    const at::Tensor truth = at::matmul(a.to(at::kLong), b.to(at::kLong).t());
    EXPECT_TRUE(at::equal(integer_product(a, b).to(at::kLong), truth));
}

TEST(Int8Product, IsCloseToTheFloatProductAndKeepsOutliers) {
    at::manual_seed(3);
    const at::Tensor x_nc = random_inputs(24, 96);
    const Int8Matrix one = random_matrix(40, 96), other = random_matrix(16, 96);
    const at::Tensor bias_o = at::randn({56});
    const auto whole = [](const Int8Matrix& m) { return m.codes_oc * (m.scales_o / 127).unsqueeze(1); };
    const at::Tensor truth = at::matmul(x_nc, at::cat({whole(one), whole(other)}).t()) + bias_o;
    const at::Tensor y_no =
        int8_linear(x_nc, {one, other}, bias_o, outlier_columns(x_nc, kThreshold, {}), kThreshold);
    EXPECT_LT((y_no - truth).norm().item<double>(), 0.015 * truth.norm().item<double>());
    const at::Tensor clipped = int8_linear(x_nc, {one, other}, bias_o, columns({}, 96), kThreshold);
    EXPECT_GT((clipped - truth).norm().item<double>(), 0.3 * truth.norm().item<double>());
}

TEST(OutlierColumns, AreThoseOfAllTilesAndRanksButNotOfPadding) {
    const at::Tensor x_nc = random_inputs(8, 12), places_n = at::arange(8, at::kLong);
    at::Tensor padded = places_n.clone();
    padded[0] = -1;
    OutlierColumns found;
    const auto search = [&](const at::Tensor& places, const OutlierColumns::Share& share) {
        found.begin_tokens(places, kThreshold, share);
        found.enter_layer();
        EXPECT_FALSE(found.knows(LoraSite::Down));
        for (int64_t first = 0; first < 8; first += 3) found.look(x_nc.slice(0, first, first + 3), first);
        found.settle(LoraSite::Down, 12, at::kCPU);
        return found.of(LoraSite::Down);
    };
    EXPECT_TRUE(at::equal(search(places_n, [](const at::Tensor&) {}), columns({2, 5}, 12)));
    EXPECT_TRUE(at::equal(search(padded, [](const at::Tensor&) {}), columns({5}, 12)));
    const auto other_rank = [](const at::Tensor& values) { values[9] = 1; };
    EXPECT_TRUE(at::equal(search(padded, other_rank), columns({5, 9}, 12)));
}

/// The integers are exact; the operations around them round in the same order on both devices.
TEST(Int8GpuProduct, EqualsTheCpus) {
    ASSERT_TRUE(has_gpu());
    at::manual_seed(4);
    for (const auto dtype : {at::kFloat, at::kBFloat16}) {
        for (const auto& [N, C, O] :
             std::vector<std::array<int64_t, 3>>{{300, 512, 1024}, {5, 36, 44}, {17, 100, 8}}) {
            const at::Tensor x_nc = random_inputs(N, C).to(dtype);
            const Int8Matrix matrix = random_matrix(O, C);
            const at::Tensor bias_o = at::randn({O}).to(dtype);
            const at::Tensor outliers_c = outlier_columns(x_nc, kThreshold, {});
            const at::Tensor x_on_gpu = x_nc.cuda();
            const at::Tensor found_c = outlier_columns(x_on_gpu, kThreshold, {});
            EXPECT_TRUE(at::equal(found_c.cpu(), outliers_c));
            const Int8Matrix here = quantize_inputs(x_nc, outliers_c, kThreshold);
            const Int8Matrix there = quantize_inputs(x_on_gpu, found_c, kThreshold);
            EXPECT_TRUE(at::equal(there.codes_oc.cpu(), here.codes_oc));
            EXPECT_TRUE(at::equal(there.scales_o.cpu(), here.scales_o));
            const at::Tensor none_c = at::zeros_like(outliers_c);
            const Int8Matrix on_gpu{matrix.codes_oc.cuda(), matrix.scales_o.cuda()};
            const auto product_here = [&](const at::Tensor& mask_c) {
                return int8_linear(x_nc, {matrix}, bias_o, mask_c, kThreshold);
            };
            const auto product_there = [&](const at::Tensor& mask_c) {
                return int8_linear(x_on_gpu, {on_gpu}, bias_o.cuda(), mask_c.cuda(), kThreshold).cpu();
            };
            EXPECT_TRUE(at::equal(product_there(none_c), product_here(none_c))) << N << " " << C << " " << O;
            // Outliers are added by a floating-point product, whose order of summation differs between
            // devices.
            const at::Tensor expected = product_here(outliers_c).to(at::kDouble);
            const double off = (product_there(outliers_c).to(at::kDouble) - expected).norm().item<double>();
            EXPECT_LT(off, (dtype == at::kFloat ? 1e-6 : 3e-3) * expected.norm().item<double>());
        }
    }
}

}  // namespace
}  // namespace ringmaster
