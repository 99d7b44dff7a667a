#include "engine/auth/run_secret.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/auth/sha256.h"
#include "engine/error.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLeast = 16, kMost = 256;  ///< characters

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
    throw Error(
        Failure::Refused, Code("RANKS-MEETING"), why, file.string(),
        "every node of the run needs the same file; without it on any node, the next start makes one");
}

std::string read_secret(const fs::path& file) {
    const int in = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0) refuse(file, std::string("the run's token cannot be read: ") + std::strerror(errno));
    std::array<char, kMost> bytes;
    const ssize_t got = ::read(in, bytes.data(), bytes.size());
    ::close(in);
    const std::string text(bytes.data(), got > 0 ? static_cast<size_t>(got) : 0);
    const std::string secret = text.substr(0, text.find_first_of("\r\n"));
    if (secret.size() < kLeast) refuse(file, "holds no token of this run");
    return secret;
}

/// Writes a temporary file and hard-links it to `file`, so that every reader sees a complete file and the
/// first process to link wins. On a file system without hard links, the last process to rename wins instead.
void make_secret(const fs::path& file) {
    const fs::path aside = file.string() + "." + to_hex(random_bytes(8));
    const std::string text = to_hex(random_bytes(16)) + "\n";
    const int out = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool written =
        out >= 0 && ::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const bool linked = written && (::link(aside.c_str(), file.c_str()) == 0 || errno == EEXIST ||
                                    ::rename(aside.c_str(), file.c_str()) == 0);
    const int problem = errno;
    if (out >= 0) ::close(out);
    ::unlink(aside.c_str());
    if (!linked) refuse(file, std::string("the run's token cannot be written: ") + std::strerror(problem));
}

}  // namespace

std::string run_secret(const fs::path& run_dir) {
    const fs::path file = run_dir / "token";
    if (::access(file.c_str(), F_OK) != 0) make_secret(file);
    return read_secret(file);
}

std::string read_run_secret(const fs::path& run_dir) {
    return read_secret(run_dir / "token");
}

}  // namespace ringmaster
