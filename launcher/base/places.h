/// Finds this user's folders, and the programs and files installed with the running program.
#pragma once

#include <filesystem>
#include <string>

namespace ringmaster {

struct Places {
    std::filesystem::path runs_dir;    ///< ${XDG_DATA_HOME:-~/.local/share}/ringmaster/runs
    std::filesystem::path tokens_dir;  ///< ${XDG_CACHE_HOME:-~/.cache}/ringmaster/tokens
    std::filesystem::path cache_dir;   ///< ${XDG_CACHE_HOME:-~/.cache}/ringmaster
    std::filesystem::path
        hf_cache_dir;  ///< the Hugging Face hub's cache, from HF_HUB_CACHE, HF_HOME or XDG_CACHE_HOME
    std::filesystem::path programs_dir;  ///< the folder of the running program
    std::filesystem::path share_dir;     ///< <programs_dir>/../share/ringmaster
    /// RINGMASTER_PYTHON_ENV if set, else what a build tree records (the link <share_dir>/python-env), else
    /// this user's <cache_dir>/venv-torch-…, or the environment that an administrator made for all users in
    /// /var/lib/ringmaster.
    std::filesystem::path python_env;
    /// Python that makes python_env: RINGMASTER_SYSTEM_PYTHON, else /usr/bin/python3.
    std::filesystem::path system_python;

    std::filesystem::path engine() const { return programs_dir / "ringmaster-engine"; }
    std::filesystem::path agent() const { return programs_dir / "ringmaster-agent"; }
    std::filesystem::path gui() const { return programs_dir / "ringmaster-gui"; }
    std::filesystem::path python() const { return python_env / "bin" / "python"; }
};

/// Returns the places, found from the environment and the path of the running program.
Places find_places();

/// Returns the absolute path without `.` and `..`; a leading `~/` is replaced by the home folder.
std::filesystem::path absolute_path(const std::string& path);

}  // namespace ringmaster
