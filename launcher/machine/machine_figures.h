/// Keeps measurements of machines in the cache folder: <cache>/figures/<machine>/. A measurement is used only
/// for the machine and device on which it was taken: host, processor, its cores and the GPUs' name must be
/// the same.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/plan/calibration.h"
#include "launcher/base/places.h"
#include "launcher/base/progress.h"
#include "launcher/machine/machine.h"

namespace ringmaster {

/// Returns the calibrations of the processor and the GPUs, if measured. A damaged file counts as missing.
std::vector<Calibration> known_calibrations(const Places& places, const Machine& machine);

/// Returns the measurements taken by this version of the program, newest last.
std::vector<Measurement> known_measurements(const Places& places, const Machine& machine);

/// These functions write a temporary file and rename it. They replace earlier figures of the same device or
/// the same run, and return the path of the file.
std::filesystem::path keep_calibration(const Places& places, const Machine& machine,
                                       const Calibration& calibration);
std::filesystem::path keep_measurement(const Places& places, const Machine& machine,
                                       const Measurement& measurement);

/// Parses the lines that `ringmaster-engine --calibrate` prints.
class CalibrationLines {
  public:
    explicit CalibrationLines(const Progress& progress) : progress_(progress) {}

    /// Returns false if the line was understood and an error message need not quote it.
    bool take(const std::string& line);
    /// Returns the result with `machine`'s host and device. Throws Error(Unreachable) if there is no result.
    Calibration result(const Machine& machine, bool cuda) const;

  private:
    const Progress& progress_;
    std::optional<Calibration> result_;
};

/// Says what to measure on a machine.
struct Calibrated {
    bool cuda = false;
    std::string disk;  ///< folder whose disk is measured too; empty: none
};

/// Returns the engine's arguments, without the program's name.
std::vector<std::string> calibration_arguments(const Machine& machine, const Calibrated& what);

/// Measures this machine with its engine. Throws Error(Unreachable) with the engine's output if it cannot
/// run, and Cancelled.
Calibration calibrate_here(const Places& places, const Machine& machine, const Calibrated& what,
                           const Progress& progress);

}  // namespace ringmaster
