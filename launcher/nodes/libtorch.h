/// LibTorch on a node that has none that fits: by that machine's pip, or copied from here. Either way into a
/// folder of ours there (own_libtorch_dir), where the next check finds it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/nodes/fleet.h"
#include "launcher/nodes/stage.h"
#include "launcher/places.h"
#include "launcher/progress.h"

namespace ringmaster {

enum class LibTorchWay { Pip, Copy };

/// "pip" or "copy". Throws Error(Usage).
LibTorchWay libtorch_way(const std::string& word);

/// The files of LibTorch here that the engine needs, and where they go: for a machine with GPUs the CUDA part
/// too. Throws Error(Unreachable) where there is none here.
std::vector<StagedFile> libtorch_files(const Places& places, const std::string& to, bool cuda);

/// For check_node. Pip: downloads there and ends, with nothing left, once it is called off. Copy: as
/// stage_files, so a copy that was cut goes on where it ended. Throws NodeError, Error, Cancelled.
Remedy libtorch_remedy(LibTorchWay way, const ProgramNeeds& needs, const Places& places,
                       const Progress& progress);

}  // namespace ringmaster
