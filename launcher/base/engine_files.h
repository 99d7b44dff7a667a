/// Finds the files of the engine, for other machines and for reports. An installed package keeps them in
/// libexec/ringmaster: its bin/ringmaster-engine is a script that looks for LibTorch. A build tree has them
/// next to the other programs.
#pragma once

#include <filesystem>

#include "launcher/base/places.h"

namespace ringmaster {

/// Returns the engine itself, never the package's script.
std::filesystem::path engine_file(const Places& places);

/// Returns ringmaster_cuda.so; an empty path if this build has no CUDA part.
std::filesystem::path cuda_file(const Places& places);

/// Returns the folder of LibTorch's libraries: the folder that a build tree records, else that of the Python
/// environment. Returns an empty path if there is none.
std::filesystem::path libtorch_dir(const Places& places);

}  // namespace ringmaster
