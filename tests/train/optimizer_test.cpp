#include "engine/optimizers/adamw.h"

#include <ATen/ATen.h>

#include "tests/support/gpu.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

/// Returns a model with more numbers than are transferred at once.
ModelConfig wide_model() {
    ModelConfig model = tiny_model();
    model.hidden_size = 256;
    model.vocab_size = 100'000;
    return model;
}

at::Tensor updated(at::Device device, bool in_host) {
    const ModelConfig model = wide_model();
    Config config;
    config.weight_decay = 0.1;
    config.optimizer_offloading = in_host;
    Parameters parameters(model, Precision::Float32, device);
    parameters.initialize(model, 1);
    AdamW optimizer(parameters, config);
    for (int step = 0; step < 3; ++step) {
        parameters.gradients().values.copy_(parameters.master().values * (step + 1));
        optimizer.step(1e-3);
    }
    return parameters.master().values.cpu();
}

/// A single float32 sum over the gradients of a large embedding would have an error of 2e-3.
TEST(GradientNorm, OfManyElementsIsThatInFloat64) {
    Parameters parameters(wide_model(), Precision::Float32, at::kCPU);
    parameters.initialize(wide_model(), 1);
    at::Tensor& gradients = parameters.gradients().values;
    gradients.copy_(parameters.master().values);
    const double expected = gradients.to(at::kDouble).square().sum().sqrt().item<double>();
    EXPECT_NEAR(gradient_norm(parameters), expected, 1e-7 * expected);
}

TEST(AdamW, MomentsInHostMemoryAreTheSameOnTheCpu) {
    EXPECT_TRUE(at::equal(updated(at::kCPU, true), updated(at::kCPU, false)));
}

TEST(AdamW, GpuUpdatesFromMomentsInHostMemoryAreTheSame) {
    ASSERT_TRUE(has_gpu());
    const at::Device device(at::kCUDA, 0);
    EXPECT_TRUE(at::equal(updated(device, true), updated(device, false)));
}

}  // namespace
}  // namespace ringmaster
