/// Installs LibTorch on a node that has no matching one, with that machine's pip or as a copy from here. Both
/// ways install it in Ringmaster's folder there (own_libtorch_dir), where the next check finds it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/base/places.h"
#include "launcher/base/progress.h"
#include "launcher/nodes/fleet.h"
#include "launcher/nodes/stage.h"

namespace ringmaster {

enum class LibTorchWay { Pip, Copy };

/// Parses "pip" or "copy". Throws Error(Usage) for anything else.
LibTorchWay libtorch_way(const std::string& word);

/// Returns the files of LibTorch that the engine needs and their targets; with `cuda` also the CUDA part.
/// Throws Error(Unreachable) if this machine has no LibTorch.
std::vector<StagedFile> libtorch_files(const Places& places, const std::string& to, bool cuda);

/// Returns the remedy for check_node. Pip downloads on the node; if cancelled, it ends and leaves nothing.
/// Copy uses stage_files, so an interrupted copy is continued. Throws NodeError, Error, Cancelled.
Remedy libtorch_remedy(LibTorchWay way, const ProgramNeeds& needs, const Places& places,
                       const Progress& progress);

}  // namespace ringmaster
