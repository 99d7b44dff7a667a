// Tests what loading the CUDA part does to a process. Each case runs in a new process, because a process
// loads the part only once.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/comm/backends.h"
#include "engine/error.h"

namespace ringmaster {
namespace {

/// Returns the text of load_cuda's error. Returns an empty text if load_cuda succeeds or only finds no
/// device.
std::string failure_of_load() {
    try {
        load_cuda(0);
    } catch (const Error& error) {
        return error.failure == Failure::Refused ? error.what() : "";
    }
    return "";
}

class CudaModule : public ::testing::Test {
  protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CudaModule, BringsLibTorchsCudaAndAFixedWorkspaceForCublas) {
    const auto load = [] {
        unsetenv("CUBLAS_WORKSPACE_CONFIG");
        std::fputs(failure_of_load().c_str(), stderr);
        std::fprintf(stderr, "workspace %s, CUDA %d", std::getenv("CUBLAS_WORKSPACE_CONFIG"),
                     at::detail::getCUDAHooks().hasCUDART());
        std::_Exit(0);
    };
    EXPECT_EXIT(load(), ::testing::ExitedWithCode(0), "^workspace :4096:8, CUDA 1$");
}

TEST_F(CudaModule, LeavesAGivenWorkspaceAndRefusesAProcessThatAskedAboutCudaBefore) {
    const auto load = [] {
        setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8", 1);
        at::hasCUDA();
        std::fprintf(stderr, "%s; workspace %s", failure_of_load().c_str(),
                     std::getenv("CUBLAS_WORKSPACE_CONFIG"));
        std::_Exit(0);
    };
    EXPECT_EXIT(load(), ::testing::ExitedWithCode(0),
                "asked about CUDA before its CUDA part was loaded.*workspace :16:8$");
}

}  // namespace
}  // namespace ringmaster
