/// Makes a temporary folder, which is removed with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/error.h"

namespace ringmaster {

class ShortLivedFolder {
  public:
    /// `what` becomes a part of the folder's name.
    explicit ShortLivedFolder(const std::string& what) {
        std::string name =
            (std::filesystem::temp_directory_path() / ("ringmaster-" + what + "-XXXXXX")).string();
        if (::mkdtemp(name.data()) == nullptr)
            throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be made", name);
        path_ = name;
    }
    ~ShortLivedFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ShortLivedFolder(const ShortLivedFolder&) = delete;
    ShortLivedFolder& operator=(const ShortLivedFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace ringmaster
