/// Writes a model's folder as one GGUF file with llama.cpp's converter, if llama.cpp is installed.
#pragma once

#include <filesystem>

#include "launcher/base/places.h"
#include "launcher/base/progress.h"

namespace ringmaster {

/// Returns the converter: `named`, which may be llama.cpp's folder, else convert_hf_to_gguf.py in $LLAMA_CPP
/// or on the PATH. Throws Error(Unreachable), GGUF-CONVERTER, if there is none.
std::filesystem::path gguf_converter(const std::filesystem::path& named);

/// Runs the converter in the Python environment of the tokenizing step. The converter chooses the dtype
/// (`--outtype auto`). Throws Error (GGUF-CONVERTER) with the end of the converter's output if it fails, or
/// if the folder holds only an adapter. Throws Cancelled if the user cancels.
void export_gguf(const std::filesystem::path& folder, const std::filesystem::path& to,
                 const std::filesystem::path& converter, const Places& places, const Progress& progress);

}  // namespace ringmaster
