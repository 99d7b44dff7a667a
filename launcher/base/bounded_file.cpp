#include "launcher/base/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/error.h"
#include "engine/files/read_at.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

class OpenFile {
  public:
    explicit OpenFile(const fs::path& file)
        : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        struct stat about {};
        if (descriptor_ >= 0 && ::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode))
            bytes_ = about.st_size;
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    int64_t bytes() const { return bytes_; }  ///< size; -1: not a readable regular file

    std::string read(int64_t offset, int64_t bytes) const {
        return read_at(descriptor_, offset, std::clamp<int64_t>(bytes_ - offset, 0, bytes));
    }

  private:
    int descriptor_;
    int64_t bytes_ = -1;
};

}  // namespace

FileStamp stamp_of(const fs::path& file) {
    struct stat about {};
    if (::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
    return {about.st_size, int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec};
}

std::optional<std::string> read_part(const fs::path& file, int64_t offset, int64_t bytes) {
    const OpenFile open(file);
    if (open.bytes() < 0) return std::nullopt;
    return open.read(std::max<int64_t>(0, offset), bytes);
}

std::string read_bounded(const fs::path& file, int64_t most_bytes) {
    const OpenFile open(file);
    if (open.bytes() < 0) {
        std::error_code unknown;
        const bool missing = !fs::exists(file, unknown);
        throw Error(Failure::Usage, Code("FILE-MISSING"), missing ? "is missing" : "cannot be read",
                    file.string());
    }
    if (open.bytes() > most_bytes)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is too long to be one", file.string());
    return open.read(0, most_bytes);
}

std::string read_tail(const fs::path& file, int64_t bytes) {
    const OpenFile open(file);
    if (open.bytes() < 0) return {};
    const int64_t offset = std::max<int64_t>(0, open.bytes() - bytes);
    std::string text = open.read(offset, bytes);
    if (offset > 0) text.erase(0, text.find('\n') + 1);
    return text;
}

}  // namespace ringmaster
