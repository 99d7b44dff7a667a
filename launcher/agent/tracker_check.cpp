#include "launcher/agent/tracker_check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "launcher/agent/descriptor.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr auto kPatience = std::chrono::seconds(20);  ///< long, because a network file system may be slow
constexpr size_t kMostOutput = 64 << 10;

fs::path own_folder() {
    std::error_code unknown;
    return fs::read_symlink("/proc/self/exe", unknown).parent_path();
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

fs::path on_path(const std::string& program) {
    std::istringstream folders(variable("PATH"));
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path file = fs::path(folder) / program;
        if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
    }
    return {};
}

/// Returns the environments that `ringmaster setup` made, one for each version of LibTorch.
std::vector<fs::path> environments_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
        if (entry.path().filename().string().starts_with("venv-torch-")) found.push_back(entry.path());
    }
    std::sort(found.rbegin(), found.rend());
    return found;
}

/// Returns the environment that a folder (ENV/lib/pythonX/site-packages/torch/lib) lies in; empty if it lies
/// in none.
fs::path environment_around(const fs::path& folder) {
    std::error_code none;
    for (fs::path at = fs::canonical(folder, none); at.has_relative_path(); at = at.parent_path()) {
        if (fs::exists(at / "bin/python", none)) return at;
    }
    return {};
}

std::vector<fs::path> own_environments() {
    std::vector<fs::path> found;
    if (const std::string asked = variable("RINGMASTER_PYTHON_ENV"); !asked.empty())
        found.emplace_back(asked);
    found.push_back(own_folder().parent_path() / "share/ringmaster/python-env");
    if (const fs::path env = environment_around(own_folder() / "libtorch"); !env.empty())
        found.push_back(env);
    std::string cache = variable("XDG_CACHE_HOME");
    if (cache.empty()) cache = variable("HOME") + "/.cache";
    for (const fs::path& folder : {fs::path(cache) / "ringmaster", fs::path("/var/lib/ringmaster")}) {
        for (const fs::path& env : environments_in(folder)) found.push_back(env);
    }
    return found;
}

[[noreturn]] void become_check(const std::vector<std::string>& words, int out) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
}

/// Returns the output that came within kPatience.
std::string read_all(int from) {
    std::string text;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    char piece[4096];
    while (text.size() < kMostOutput) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        pollfd waited{from, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&waited, 1, static_cast<int>(left.count())) <= 0) break;
        const ssize_t got = ::read(from, piece, sizeof piece);
        if (got <= 0) break;
        text.append(piece, static_cast<size_t>(got));
    }
    return text;
}

std::string output_of(const std::vector<std::string>& words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    const Descriptor out(ends[0]);
    Descriptor in(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) become_check(words, in.get());
    in.close();
    if (child < 0) return {};
    std::string text = read_all(out.get());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return text;
}

int rank_of(const std::string& state) {
    return state == "ready" ? 2 : state == "client" ? 1 : 0;
}

}  // namespace

std::vector<fs::path> pythons_here() {
    std::vector<fs::path> candidates;
    if (const std::string env = variable("VIRTUAL_ENV"); !env.empty())
        candidates.push_back(fs::path(env) / "bin/python");
    candidates.push_back(on_path("python3"));
    for (const fs::path& env : own_environments()) candidates.push_back(env / "bin/python");
    std::vector<fs::path> found;
    for (const fs::path& python : candidates) {
        const bool is_there = !python.empty() && ::access(python.c_str(), X_OK) == 0;
        if (is_there && std::find(found.begin(), found.end(), python) == found.end()) found.push_back(python);
    }
    return found;
}

fs::path tracking_package() {
    return own_folder().parent_path() / "share/ringmaster/ringmaster_track";
}

std::map<std::string, TrackerCheck> parse_checks(const std::string& text, const fs::path& python) {
    std::map<std::string, TrackerCheck> checks;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> words(1);
        for (const char c : line) c == '\t' ? void(words.emplace_back()) : words.back().push_back(c);
        if (words.size() == 5) checks[words[0]] = {words[1], words[2], words[3], words[4], python};
    }
    return checks;
}

std::map<std::string, TrackerCheck> check_trackers(const fs::path& settings) {
    std::map<std::string, TrackerCheck> best;
    for (const fs::path& python : pythons_here()) {
        const std::string said = output_of({python, tracking_package(), "check", settings});
        for (const auto& [name, check] : parse_checks(said, python)) {
            const auto [at, is_new] = best.try_emplace(name, check);
            if (!is_new && rank_of(check.state) > rank_of(at->second.state)) at->second = check;
        }
        const bool all_ready = std::all_of(best.begin(), best.end(),
                                           [](const auto& one) { return one.second.state == "ready"; });
        if (!best.empty() && all_ready) break;
    }
    return best;
}

}  // namespace ringmaster
