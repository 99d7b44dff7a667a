#include "engine/commands/json_command.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/error.h"

namespace ringmaster {

namespace {

int say_failure(const std::exception& problem) {
    const auto* own = dynamic_cast<const Error*>(&problem);
    const auto* torch_problem = dynamic_cast<const c10::Error*>(&problem);
    std::string line = torch_problem != nullptr ? torch_problem->what_without_backtrace() : problem.what();
    if (own != nullptr && !own->where.empty()) line = own->where + ": " + line;
    if (own != nullptr && !own->hint.empty()) line += "; " + own->hint;
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::fprintf(stderr, "ringmaster-engine: %s\n", line.c_str());
    return own != nullptr ? static_cast<int>(own->failure) : 1;
}

}  // namespace

void print_line(const nlohmann::json& line) {
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
}

OnPart print_phases(int before) {
    return [before](const std::string& name, int done, int total) {
        print_line({{"phase", name}, {"done", before + done}, {"total", before + total}});
    };
}

int exit_status_of(const std::function<int()>& work) {
    try {
        return work();
    } catch (const std::exception& problem) {
        return say_failure(problem);
    }
}

void run_two_ranks(const std::function<void(int rank)>& body) {
    std::array<std::exception_ptr, 2> failures;
    std::array<std::thread, 2> threads;
    for (size_t rank = 0; rank < 2; ++rank) {
        threads[rank] = std::thread([&, rank] {
            const at::NoGradGuard no_grad;
            try {
                body(static_cast<int>(rank));
            } catch (...) {
                failures[rank] = std::current_exception();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

}  // namespace ringmaster
