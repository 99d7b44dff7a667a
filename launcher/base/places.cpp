#include "launcher/base/places.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSharedDir = "/var/lib/ringmaster";  ///< shared by all users of this machine

/// Returns the variable's value; empty if it is unset. XDG and HF variables count as unset when empty.
std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

fs::path home_dir() {
    if (std::string home = variable("HOME"); !home.empty()) return home;
    const passwd* entry = getpwuid(getuid());
    return entry != nullptr ? fs::path(entry->pw_dir) : fs::path("/");
}

/// Returns the folder that the variable names, or the fallback: the XDG specification ignores relative paths.
fs::path xdg_dir(const char* name, const char* fallback) {
    const fs::path asked = variable(name);
    return asked.is_absolute() ? asked : home_dir() / fallback;
}

fs::path hub_cache_dir() {
    for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
        if (std::string asked = variable(name); !asked.empty()) return absolute_path(asked);
    }
    if (std::string asked = variable("HF_HOME"); !asked.empty()) return absolute_path(asked) / "hub";
    return xdg_dir("XDG_CACHE_HOME", ".cache") / "huggingface" / "hub";
}

/// Returns the first environment with an interpreter, else this user's, which `ringmaster setup` makes.
fs::path installed_env(const fs::path& cache_dir) {
    const char* const name = "venv-torch-" RINGMASTER_TORCH_VERSION;
    std::error_code none;
    for (const fs::path& env : {cache_dir / name, fs::path(kSharedDir) / name}) {
        if (fs::exists(env / "bin" / "python", none)) return env;
    }
    return cache_dir / name;
}

fs::path environment_of(const Places& places) {
    if (const std::string asked = variable("RINGMASTER_PYTHON_ENV"); !asked.empty())
        return absolute_path(asked);
    std::error_code not_a_build_tree;
    const fs::path recorded = fs::read_symlink(places.share_dir / "python-env", not_a_build_tree);
    return not_a_build_tree ? installed_env(places.cache_dir) : recorded;
}

/// Prefers /usr/bin/python3 to a Python on the PATH, which may be conda's and may not suit LibTorch's wheel.
fs::path interpreter() {
    if (const std::string asked = variable("RINGMASTER_SYSTEM_PYTHON"); !asked.empty()) return asked;
    return fs::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
}

}  // namespace

Places find_places() {
    Places places;
    places.runs_dir = xdg_dir("XDG_DATA_HOME", ".local/share") / "ringmaster" / "runs";
    places.cache_dir = xdg_dir("XDG_CACHE_HOME", ".cache") / "ringmaster";
    places.tokens_dir = places.cache_dir / "tokens";
    places.hf_cache_dir = hub_cache_dir();
    places.programs_dir = fs::read_symlink("/proc/self/exe").parent_path();
    places.share_dir = places.programs_dir.parent_path() / "share" / "ringmaster";
    places.python_env = environment_of(places);
    places.system_python = interpreter();
    return places;
}

fs::path absolute_path(const std::string& path) {
    const fs::path expanded = path == "~" || path.starts_with("~/")
                                  ? home_dir() / path.substr(path.size() > 1 ? 2 : 1)
                                  : fs::path(path);
    fs::path whole = fs::absolute(expanded).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();  // drops a trailing slash
}

}  // namespace ringmaster
