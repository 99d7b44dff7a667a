#include "launcher/base/engine_files.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

fs::path folder_of_engine(const Places& places) {
    const fs::path packaged = places.programs_dir.parent_path() / "libexec" / "ringmaster";
    std::error_code none;
    return fs::exists(packaged / "ringmaster-engine", none) ? packaged : places.programs_dir;
}

/// Returns the path without links; an empty path if it has no LibTorch.
fs::path with_libtorch(const fs::path& folder) {
    std::error_code none;
    return fs::exists(folder / "libtorch_cpu.so", none) ? fs::canonical(folder, none) : fs::path();
}

}  // namespace

fs::path engine_file(const Places& places) {
    return folder_of_engine(places) / "ringmaster-engine";
}

fs::path cuda_file(const Places& places) {
    const fs::path file = folder_of_engine(places) / "ringmaster_cuda.so";
    std::error_code none;
    return fs::exists(file, none) ? file : fs::path();
}

fs::path libtorch_dir(const Places& places) {
    fs::path found = with_libtorch(places.programs_dir / "libtorch");
    std::error_code none;
    for (const fs::directory_entry& python : fs::directory_iterator(places.python_env / "lib", none)) {
        if (found.empty() && python.path().filename().string().starts_with("python3"))
            found = with_libtorch(python.path() / "site-packages/torch/lib");
    }
    return found;
}

}  // namespace ringmaster
