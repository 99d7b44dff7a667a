// Preloaded into a program, this library intercepts the calls that change files below given folders: write,
// fsync, rename, unlink and rmdir. It lists the calls, makes one of them fail, or kills the process just
// before one of them. A temporary name counts as the final name of its file.
//
//   CRASH_UNDER  folders, separated by ':'       CRASH_LOG  a file that gets a line per call: CALL PATH
//   CRASH_AT     CALL PATH of the call           CRASH_NTH  index of the call among these, from 0
//   CRASH_HOW    KILL, EIO or ENOSPC
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::atomic<long> hits{0};

bool is_watched(std::string_view path) {
    const char* given = std::getenv("CRASH_UNDER");
    std::string_view under = given == nullptr ? "" : given;
    while (!under.empty()) {
        const std::string_view folder = under.substr(0, under.find(':'));
        if (path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/'))
            return true;
        under.remove_prefix(std::min(under.size(), folder.size() + 1));
    }
    return false;
}

void log_call(const std::string& line) {
    const char* log = std::getenv("CRASH_LOG");
    if (log == nullptr) return;
    const long file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    syscall(SYS_write, file, line.data(), line.size());
    syscall(SYS_close, file);
}

/// Logs a watched call. If it is the chosen call, kills the process, or sets errno and returns true.
bool fails(const char* call, const std::string& path) {
    if (!is_watched(path)) return false;
    const std::string what = std::string(call) + " " + path.substr(0, path.rfind(".tmp-"));
    log_call(what + "\n");
    const char* at = std::getenv("CRASH_AT");
    if (at == nullptr || what != at || hits++ != std::atol(std::getenv("CRASH_NTH"))) return false;
    const std::string_view how = std::getenv("CRASH_HOW");
    if (how == "KILL") ::kill(::getpid(), SIGKILL);
    errno = how == "EIO" ? EIO : ENOSPC;
    return true;
}

std::string path_of(int file) {
    char path[PATH_MAX];
    const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
    return {path, static_cast<size_t>(length < 0 ? 0 : length)};
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t count) {
    return file > 2 && fails("write", path_of(file)) ? -1 : syscall(SYS_write, file, bytes, count);
}

int fsync(int file) {
    return fails("fsync", path_of(file)) ? -1 : static_cast<int>(syscall(SYS_fsync, file));
}

int rename(const char* from, const char* to) __THROW {
    return fails("rename", to) ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}

int unlink(const char* path) __THROW {
    return fails("unlink", path) ? -1 : static_cast<int>(syscall(SYS_unlink, path));
}

int rmdir(const char* path) __THROW {
    return fails("rmdir", path) ? -1 : static_cast<int>(syscall(SYS_rmdir, path));
}

int unlinkat(int folder, const char* name, int flags) __THROW {
    const std::string path = folder == AT_FDCWD || *name == '/' ? name : path_of(folder) + "/" + name;
    if (fails((flags & AT_REMOVEDIR) != 0 ? "rmdir" : "unlink", path)) return -1;
    return static_cast<int>(syscall(SYS_unlinkat, folder, name, flags));
}
}
