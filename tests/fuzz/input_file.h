/// Turns a fuzz input into a file, for parsers that map or open a file.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ringmaster::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Aborts the process if a property of a parser does not hold; the fuzzer reports that like a crash.
inline void require(bool holds) {
    if (!holds) std::abort();
}

/// Provides a file in memory that has a path. A process needs only one object: make it static.
class InputFile {
  public:
    InputFile() : file_(::memfd_create("input", MFD_CLOEXEC)) { require(file_ >= 0); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    ~InputFile() { ::close(file_); }

    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

    void hold(const uint8_t* data, size_t size) const {
        require(::ftruncate(file_, static_cast<off_t>(size)) == 0);
        require(::pwrite(file_, data, size, 0) == static_cast<ssize_t>(size));
    }

  private:
    int file_;
};

/// Provides a folder for parsers that read several files by name. A process needs only one object: make it
/// static.
class InputFolder {
  public:
    InputFolder() {
        const auto shared_memory = std::filesystem::path("/dev/shm");
        std::error_code none;
        const auto in = std::filesystem::is_directory(shared_memory, none)
                            ? shared_memory
                            : std::filesystem::temp_directory_path();
        std::string name = (in / ("ringmaster-fuzz-" + std::to_string(::getpid()))).string();
        std::filesystem::create_directories(name);
        path_ = name;
    }
    InputFolder(const InputFolder&) = delete;
    InputFolder& operator=(const InputFolder&) = delete;
    ~InputFolder() {
        std::error_code none;
        std::filesystem::remove_all(path_, none);
    }

    const std::filesystem::path& path() const { return path_; }
    void write(const std::filesystem::path& name, std::string_view text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << text;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace ringmaster::fuzz
