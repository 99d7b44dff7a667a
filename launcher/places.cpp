#include "launcher/places.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

/// Empty where it is unset; XDG and HF variables count as unset when they are empty.
std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

fs::path home_dir() {
    if (std::string home = variable("HOME"); !home.empty()) return home;
    const passwd* entry = getpwuid(getuid());
    return entry != nullptr ? fs::path(entry->pw_dir) : fs::path("/");
}

/// The XDG specification ignores relative paths.
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

}  // namespace

Places find_places() {
    Places places;
    places.runs_dir = xdg_dir("XDG_DATA_HOME", ".local/share") / "ringmaster" / "runs";
    places.cache_dir = xdg_dir("XDG_CACHE_HOME", ".cache") / "ringmaster";
    places.tokens_dir = places.cache_dir / "tokens";
    places.hf_cache_dir = hub_cache_dir();
    places.programs_dir = fs::read_symlink("/proc/self/exe").parent_path();
    places.share_dir = places.programs_dir.parent_path() / "share" / "ringmaster";
    const std::string env = variable("RINGMASTER_PYTHON_ENV");
    places.python_env = env.empty() ? fs::path(RINGMASTER_PYTHON_ENV) : absolute_path(env);
    return places;
}

fs::path absolute_path(const std::string& path) {
    const fs::path expanded = path == "~" || path.starts_with("~/")
                                  ? home_dir() / path.substr(path.size() > 1 ? 2 : 1)
                                  : fs::path(path);
    fs::path whole = fs::absolute(expanded).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();  // without a trailing slash
}

}  // namespace ringmaster
