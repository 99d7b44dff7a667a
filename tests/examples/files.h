/// Reads axolotl's 252 example files.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace ringmaster {

/// Returns the texts by path. The build unpacks the archive into the folder RINGMASTER_AXOLOTL.
inline std::map<std::string, std::string> axolotl_examples() {
    std::map<std::string, std::string> texts;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(RINGMASTER_AXOLOTL)) {
        const auto kind = entry.path().extension();
        if (kind != ".yml" && kind != ".yaml") continue;
        std::ifstream in(entry.path(), std::ios::binary);
        texts[entry.path().string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    return texts;
}

}  // namespace ringmaster
