// Prints the learning rate of each step of a configuration: print_rates CONFIG TOTAL_STEPS.
#include <cstdio>
#include <cstdlib>

#include "engine/config/read_config.h"
#include "engine/error.h"
#include "engine/optimizers/schedule.h"

int main(int, char** argv) {
    using namespace ringmaster;
    try {
        const ConfigReading reading = read_config(argv[1]);
        for (const Diagnostic& finding : reading.diagnostics) {
            if (finding.severity == Severity::Error) {
                std::fprintf(stderr, "%s: %s\n%s\n", finding.key.c_str(), finding.message.c_str(),
                             finding.hint.c_str());
                return 1;
            }
        }
        const int64_t total = std::atoll(argv[2]);
        for (int64_t step = 1; step <= total; ++step)
            std::printf("%.17g\n", learning_rate_at(reading.config, step, total));
        return 0;
    } catch (const Error& problem) {
        std::fprintf(stderr, "%s\n", problem.text().c_str());
        return 2;
    }
}
