#include "launcher/nodes/libtorch.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "engine/error.h"
#include "launcher/base/child.h"
#include "launcher/base/engine_files.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr auto kLook = std::chrono::milliseconds(200);
constexpr int64_t kSpareDisk = int64_t{256} << 20;

/// Script that installs LibTorch with pip. The caller sets `final` and `lock` (the text of libtorch.txt) in
/// front of the script, and keeps its stdin open while waiting. Prints "at KIBIBYTES" every second. Fills a
/// temporary folder, then renames it.
constexpr const char* kInstall = R"sh(
trap '' PIPE HUP
exec 3<&0
host=$(uname -n)
for old in "$final.part-$host-"*; do  # of an installation that ended with the machine
    [ -d "$old" ] && { kill -0 "${old##*-}" 2>/dev/null || rm -rf "$old"; }
done
part=$final.part-$host-$$
mkdir -p "$part/tmp" || exit 1
TMPDIR=$part/tmp; export TMPDIR
if python3 -c 'import pip' 2>/dev/null; then python=python3
else python3 -m venv "$part/venv" 3<&- >"$part/log" 2>&1 && python=$part/venv/bin/python; fi
if [ -n "$python" ] && ! "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))'; then
    echo "its Python is none of 3.10 to 3.13" >"$part/log"
    python=
fi
if [ -n "$python" ]; then
    printf '%s\n' "$lock" >"$part/libtorch.txt"
    "$python" -m pip install --no-input --disable-pip-version-check --no-cache-dir --progress-bar off --target "$part/site" \
        --require-hashes --only-binary :all: -r "$part/libtorch.txt" 3<&- </dev/null >"$part/log" 2>&1 &
    pip=$!
    { cat <&3; kill "$pip"; } >/dev/null 2>&1 &
    watch=$!
    while kill -0 "$pip" 2>/dev/null; do
        printf 'at %s\n' "$(du -sk "$part" 2>/dev/null | cut -f1)" 2>/dev/null
        sleep 1
    done
    wait "$pip"; status=$?
    kill "$watch" 2>/dev/null
else
    status=1
fi
if [ "$status" -eq 0 ] && [ -e "$part/site/torch/lib/libtorch_cpu.so" ]; then
    if [ ! -e "$final" ]; then mv "$part/site" "$final" || status=1; fi
else
    tail -n 5 "$part/log" >&2
    status=1
fi
rm -rf "$part"
[ "$status" -eq 0 ] || rmdir "${final%/*}" "${final%/*/*}" 2>/dev/null
exit "$status"
)sh";

/// Returns pip's output without blanks at its end; a fixed sentence if pip printed nothing.
std::string last_lines(const std::string& text) {
    std::string words = text;
    while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
    return words.empty() ? "it did not say why" : words;
}

void install_with_pip(Node& node, const ProgramNeeds& needs, const Places& places, const Progress& progress) {
    const std::string final_dir = own_libtorch_dir(node.facts, needs);
    RemoteScript remote(
        *node.session, "final=" + shell_quoted(final_dir) +
                           "\nlock=" + shell_quoted(read_file(places.share_dir / "libtorch.txt")) + kInstall);
    ProgressStep step{"libtorch", {node.name()}, 0, 0, true};
    std::string said;
    while (remote.read(said, kLook)) {
        progress.stop_if_cancelled();
        if (const size_t at = said.rfind("at "); at != std::string::npos) {
            step.done = std::atoll(said.c_str() + at + 3) << 10;
            said.clear();
        }
        progress.report(step);
    }
    if (remote.status() != 0)
        throw NodeError({"pip-failed", {needs.torch_version, last_lines(remote.errors())}}, node.name());
}

void copy_from_here(Node& node, const ProgramNeeds& needs, const Places& places, const Progress& progress) {
    const std::vector<StagedFile> files =
        libtorch_files(places, own_libtorch_dir(node.facts, needs), !node.facts.gpus.empty());
    int64_t bytes = 0;
    for (const StagedFile& file : files) bytes += static_cast<int64_t>(fs::file_size(file.from));
    if (node.facts.disk_free_bytes < bytes + kSpareDisk) {
        throw NodeError(
            {"no-room-for-libtorch",
             {format_bytes(node.facts.disk_free_bytes), node.facts.data_dir, format_bytes(bytes)}},
            node.name());
    }
    stage_files(node, files, progress);
}

/// Adds the dependencies of a program or library that lie below `site`, found as the loader finds them.
void add_dependencies(const fs::path& of, const fs::path& site, std::set<fs::path>& files) {
    ChildWatch watch;
    watch.line = [&](const std::string& line) {
        const size_t arrow = line.find(" => "), end = line.rfind(" (0x");
        if (arrow == std::string::npos || end == std::string::npos || end < arrow + 4) return true;
        std::error_code none;
        const fs::path file = fs::canonical(line.substr(arrow + 4, end - arrow - 4), none);
        const fs::path inside = file.lexically_relative(site);
        if (!inside.empty() && *inside.begin() != "..") files.insert(file);
        return true;
    };
    // A package's engine has no link to LibTorch next to it. The package's script also passes the folder in
    // LD_LIBRARY_PATH.
    run_child({"env",
               {"LD_LIBRARY_PATH=" + (site / "torch/lib").string(), "ldd", of.string()},
               "looking up LibTorch's files",
               "ldd comes with the system's C library"},
              watch, {});
}

/// Adds libraries that the engine loads by name at run time.
void add_libraries(const fs::path& folder, std::set<fs::path>& files) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
        if (entry.is_regular_file() && entry.path().filename().string().find(".so") != std::string::npos)
            files.insert(entry.path());
    }
}

}  // namespace

LibTorchWay libtorch_way(const std::string& word) {
    if (word == "pip") return LibTorchWay::Pip;
    if (word == "copy") return LibTorchWay::Copy;
    throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "'" + word + "' is neither pip nor copy",
                "--libtorch");
}

std::vector<StagedFile> libtorch_files(const Places& places, const std::string& to, bool cuda) {
    std::error_code none;
    const fs::path torch = libtorch_dir(places).parent_path();
    const fs::path site = torch.parent_path();
    if (!fs::exists(torch / "version.py", none))
        throw Error(Failure::Unreachable, Code("SETUP-PYTHON"), "there is no LibTorch here to be copied",
                    places.python_env.string(), "`ringmaster setup` installs it");
    std::set<fs::path> files;
    add_dependencies(engine_file(places), site, files);
    if (cuda && !cuda_file(places).empty()) {
        add_libraries(torch / "lib", files);
        for (const fs::directory_entry& part : fs::directory_iterator(site / "nvidia", none))
            add_libraries(part.path() / "lib", files);
    }
    std::vector<StagedFile> staged;
    files.insert(torch / "version.py");  // marks a complete folder; sent last, see below
    for (const fs::path& file : files)
        staged.push_back({file, to + "/" + file.lexically_relative(site).string(), false});
    const auto is_version = [](const StagedFile& file) { return file.from.filename() != "version.py"; };
    std::stable_partition(staged.begin(), staged.end(), is_version);
    return staged;
}

Remedy libtorch_remedy(LibTorchWay way, const ProgramNeeds& needs, const Places& places,
                       const Progress& progress) {
    return [way, needs, places, progress](Node& node) {
        if (way == LibTorchWay::Pip)
            install_with_pip(node, needs, places, progress);
        else
            copy_from_here(node, needs, places, progress);
    };
}

}  // namespace ringmaster
