#include "launcher/ssh/host_key_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "launcher/ssh/finding.h"
#include "launcher/ssh/socket.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLargestFile = size_t{16} << 20;

[[noreturn]] void refuse(const std::string& setting, const std::string& path, const std::string& why,
                         const std::string& host) {
    throw NodeError({"unchecked-host-key", {setting + " " + path + ": " + why, path}}, host);
}

bool is_null_device(const struct stat& status) {
    struct stat null {};
    return S_ISCHR(status.st_mode) && ::stat("/dev/null", &null) == 0 && null.st_rdev == status.st_rdev;
}

std::optional<KnownHostsText> read_file(const std::string& setting, const std::string& path,
                                        const std::string& host) {
    const OwnedSocket file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
        refuse(setting, path, std::strerror(errno), host);
    KnownHostsText found{path, {}};
    if (is_null_device(status)) return found;
    if (!S_ISREG(status.st_mode)) refuse(setting, path, "it is no regular file", host);
    std::array<char, 65536> buffer;
    ssize_t got = 0;
    while ((got = ::read(file.get(), buffer.data(), buffer.size())) > 0 && found.text.size() <= kLargestFile)
        found.text.append(buffer.data(), static_cast<size_t>(got));
    if (got < 0) refuse(setting, path, std::strerror(errno), host);
    if (found.text.size() > kLargestFile) refuse(setting, path, "it is larger than 16 MiB", host);
    return found;
}

[[noreturn]] void fail(const std::string& what, int problem = errno) {
    throw std::system_error(problem, std::generic_category(), what);
}

bool ends_open(int file, off_t size) {
    char last = '\n';
    return size > 0 && ::pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

HostKeyFiles read_host_key_files(const HostKeySettings& settings, const std::string& host) {
    HostKeyFiles files;
    const auto add = [&](const char* setting, const std::vector<std::string>& paths) {
        for (const std::string& path : paths) {
            if (auto text = read_file(setting, path, host)) files.known.push_back(std::move(*text));
        }
    };
    add("UserKnownHostsFile", settings.user_files);
    add("GlobalKnownHostsFile", settings.global_files);
    if (settings.revoked_file.empty()) return files;
    files.revoked = read_file("RevokedHostKeys", settings.revoked_file, host);
    if (!files.revoked) refuse("RevokedHostKeys", settings.revoked_file, std::strerror(ENOENT), host);
    return files;
}

void append_known_host(const std::string& path, const std::string& line) {
    static std::mutex one_at_a_time;  // several threads connect to hosts and share the file
    const std::lock_guard lock(one_at_a_time);
    const fs::path folder = fs::path(path).parent_path();
    if (!folder.empty() && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail(folder.string());
    const OwnedSocket file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600));
    if (file.get() < 0) fail(path);
    ::flock(file.get(), LOCK_EX);  // released when the file is closed; other programs may ignore it
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) fail(path);
    const std::string bytes = (ends_open(file.get(), status.st_size) ? "\n" : "") + line + "\n";
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    const int problem = put < 0 ? errno : ENOSPC;
    if (put == static_cast<ssize_t>(bytes.size())) {
        if (S_ISREG(status.st_mode) && ::fsync(file.get()) != 0) fail(path);
        return;
    }
    struct stat now {};
    const bool is_alone = put > 0 && ::fstat(file.get(), &now) == 0 && now.st_size == status.st_size + put;
    if (is_alone && ::ftruncate(file.get(), status.st_size) != 0) fail(path);
    fail(path, problem);
}

}  // namespace ringmaster
