/// Holds what the benchmarks of the app share: a folder for their files, clocks, and figures with limits.
#pragma once

#include <QApplication>
#include <QTemporaryDir>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "gui/look/look.h"

namespace ringmaster {

/// Sets up the app for a benchmark. Its files are in the folder that the first argument names, or in a
/// temporary folder.
class Bench {
  public:
    Bench(int& argc, char** argv, Appearance appearance)
        : m_app(argc, argv),
          m_folder(argc > 1 && argv[1][0] != '-' ? argv[1] : m_temporary.path().toStdString()) {
        applyAppearance(appearance);
    }
    const std::filesystem::path& folder() const { return m_folder; }

  private:
    QApplication m_app;
    QTemporaryDir m_temporary;
    std::filesystem::path m_folder;
};

inline bool missed = false;  ///< true if any figure was above its limit

inline void say(const char* what, double figure, const char* unit, double limit) {
    const bool good = figure <= limit;
    missed = missed || !good;
    std::printf("%-58s %9.3f %-6s (%s %g)\n", what, figure, unit, good ? "within" : "ABOVE", limit);
    std::fflush(stdout);
}

/// Returns the processor time that this thread has used, in seconds. With CLOCK_PROCESS_CPUTIME_ID, returns
/// that of the whole process.
inline double processor_s(clockid_t of = CLOCK_THREAD_CPUTIME_ID) {
    timespec used{};
    clock_gettime(of, &used);
    return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
}

}  // namespace ringmaster
