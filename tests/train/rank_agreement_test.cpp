#include "engine/train/rank_agreement.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "engine/train/program_fault.h"
#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

/// Returns whether the check finds that two ranks differ, after one rank has flipped `bit` of an element of
/// its weights.
bool is_found(Precision precision, int64_t element, int bit) {
    Mesh mesh;
    mesh.dp_replicate = 2;
    bool found = false;
    run_ranks(mesh, [&](int rank, Groups& groups) {
        Parameters parameters(tiny_model(), precision, at::kCPU, {0, groups});
        parameters.initialize(tiny_model(), 1);
        at::Tensor values = parameters.weights_of_unit(1);
        const at::ScalarType bits = values.element_size() == 4 ? at::kInt : at::kShort;
        if (rank == 1 && bit >= 0) {
            at::Tensor one = values.view(bits)[element < 0 ? values.numel() + element : element];
            one.copy_(one.bitwise_xor(at::full({}, int64_t{1} << bit, at::kLong).to(bits)));
        }
        try {
            check_same_weights(groups, parameters);
        } catch (const ProgramFault&) {
            if (rank == 0) found = true;
        }
    });
    return found;
}

/// The checksum adds words of 8 bytes: each byte of a word counts, and so do the ends that do not fill a
/// word.
TEST(SameWeights, NoBitMayDiffer) {
    for (const Precision precision : {Precision::Float32, Precision::Bf16Full}) {
        EXPECT_FALSE(is_found(precision, 0, -1));
        const int sign = precision == Precision::Float32 ? 31 : 15;
        for (const int64_t element : {0, 1, 2, 3, -1})
            for (const int bit : {0, sign - 1, sign}) EXPECT_TRUE(is_found(precision, element, bit));
    }
}

}  // namespace
}  // namespace ringmaster
