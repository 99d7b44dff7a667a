/// Writes files and folders that are either complete or absent: under a temporary name, flushed to the disk,
/// then renamed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ringmaster {

/// Describes a written file. `crc32c` is computed while writing, never by reading back.
struct WrittenFile {
    std::string name;  ///< name within its folder
    int64_t bytes = 0;
    uint32_t crc32c = 0;
};

/// Writes a file that appears under its name only when it is complete. Its temporary name is unique: several
/// processes and threads may write it at once, and the last one wins. A file that replaces another keeps its
/// mode; a new one gets `mode` less the umask. Functions throw Error(Refused) with the file and the reason.
/// The old content then stays in place, unless only flushing the folder failed.
class DurableFile {
  public:
    explicit DurableFile(const std::filesystem::path& target, mode_t mode = 0666);
    ~DurableFile();  ///< removes the temporary file if appear() was not called
    DurableFile(const DurableFile&) = delete;
    DurableFile& operator=(const DurableFile&) = delete;

    void write(const void* bytes, size_t count);
    WrittenFile appear();  ///< flushes the file, renames it and flushes its folder

  private:
    std::filesystem::path target_, aside_;
    int file_ = -1;
    WrittenFile written_;
};

/// Writes a small file with DurableFile.
WrittenFile write_file_durably(const std::filesystem::path& path, std::string_view content,
                               mode_t mode = 0666);

/// Writes a folder as `.NAME.partial` that appears under its name only when it is complete. If two write at
/// once, the second takes the folder from the first: the caller must ensure a single writer.
class FolderAside {
  public:
    explicit FolderAside(std::filesystem::path target);
    ~FolderAside();  ///< removes the temporary folder if appear() was not called
    FolderAside(const FolderAside&) = delete;
    FolderAside& operator=(const FolderAside&) = delete;

    const std::filesystem::path& path() const { return aside_; }

    /// Renames an existing folder of that name to `.NAME.former`, renames this one into place, then deletes
    /// the former. If the process is killed in between, restore_folders repairs the folder.
    void appear();

  private:
    std::filesystem::path target_, aside_;
};

/// Renames a file or folder within its folder, and flushes that folder.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Removes a file, if it exists, and flushes its folder.
void remove_durably(const std::filesystem::path& file);

/// Deletes a folder, and never leaves half of it under its name: renames it to `.NAME.removed` first. If it
/// cannot be deleted, it keeps that name, and restore_folders tries again.
void remove_folder(const std::filesystem::path& folder);

/// Repairs what a killed process left in `parent`: a `.NAME.former` without NAME gets its name back; other
/// former, partial and removed folders are deleted.
void restore_folders(const std::filesystem::path& parent);

/// Flushes a folder's entries (names of files made or renamed in it) to the disk.
void sync_directory(const std::filesystem::path& dir);

/// Throws Error(Refused) from errno: "PATH: cannot be written: No space left on device".
[[noreturn]] void throw_write_error(const std::filesystem::path& path);

}  // namespace ringmaster
