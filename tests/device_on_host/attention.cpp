// Registers a GPU's attention operators, which the CPU lacks.
#include "tests/support/flash_twin.h"
#include "tests/support/library_twins.h"

namespace ringmaster {

namespace {

TORCH_LIBRARY_IMPL(aten, CPU, attention) {
    attention.impl("_flash_attention_forward", TORCH_FN(flash2::forward));
    attention.impl("_flash_attention_backward", TORCH_FN(flash2::backward));
    attention.impl("_scaled_dot_product_cudnn_attention", TORCH_FN(twins::cudnn_forward));
    attention.impl("_scaled_dot_product_cudnn_attention_backward", TORCH_FN(twins::cudnn_backward));
    attention.impl("_scaled_dot_product_efficient_attention", TORCH_FN(twins::efficient_forward));
    attention.impl("_scaled_dot_product_efficient_attention_backward", TORCH_FN(twins::efficient_backward));
}

}  // namespace

}  // namespace ringmaster
