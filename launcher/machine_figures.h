/// What was measured on machines, kept in the cache folder: <cache>/figures/<machine>/. A figure is used for
/// the machine and device that it was measured on and for no other: host, processor, its cores and the GPUs'
/// name must be the same.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/plan/calibration.h"
#include "launcher/machine.h"
#include "launcher/places.h"
#include "launcher/progress.h"

namespace ringmaster {

/// Of the machine's processor and of its GPUs, as far as they were measured. A damaged file counts as none.
std::vector<Calibration> known_calibrations(const Places& places, const Machine& machine);

/// Of the version of this program, newest last.
std::vector<Measurement> known_measurements(const Places& places, const Machine& machine);

/// Both are written aside, then renamed; what was known of the same device, or the same run, is replaced.
/// They return the file.
std::filesystem::path keep_calibration(const Places& places, const Machine& machine,
                                       const Calibration& calibration);
std::filesystem::path keep_measurement(const Places& places, const Machine& machine,
                                       const Measurement& measurement);

/// Takes the lines that `ringmaster-engine --calibrate` prints.
class CalibrationLines {
  public:
    explicit CalibrationLines(const Progress& progress) : progress_(progress) {}

    /// False: the line was understood and is not worth quoting where the engine fails.
    bool take(const std::string& line);
    /// Host and device as `machine` names them. Throws Error(Unreachable) where no result came.
    Calibration result(const Machine& machine, bool cuda) const;

  private:
    const Progress& progress_;
    std::optional<Calibration> result_;
};

/// The engine's arguments behind its name.
std::vector<std::string> calibration_arguments(const Machine& machine, bool cuda);

/// Measures this machine with its engine. Throws Error(Unreachable) with what the engine said where it cannot
/// run, Cancelled.
Calibration calibrate_here(const Places& places, const Machine& machine, bool cuda, const Progress& progress);

}  // namespace ringmaster
