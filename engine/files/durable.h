/// Files and folders that are either whole or not there: written aside under a name of their own, flushed to
/// the disk, renamed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ringmaster {

/// A file as it was handed to the system: `crc32c` is computed while writing, never by reading back.
struct WrittenFile {
    std::string name;  ///< in its folder
    int64_t bytes = 0;
    uint32_t crc32c = 0;
};

/// A file that appears under its name only after it is whole. Its temporary name is unique: processes and
/// threads may write the same file at once, and the last to finish wins. A file that replaces another keeps
/// the mode of that one; a new one gets `mode` less the umask. Every function throws Error(Refused) naming
/// the file and the system's reason; the old content stays then.
class DurableFile {
  public:
    explicit DurableFile(const std::filesystem::path& target, mode_t mode = 0666);
    ~DurableFile();  ///< removes what has not appeared
    DurableFile(const DurableFile&) = delete;
    DurableFile& operator=(const DurableFile&) = delete;

    void write(const void* bytes, size_t count);
    WrittenFile appear();  ///< flushes the file, renames it, flushes its folder

  private:
    std::filesystem::path target_, aside_;
    int file_ = -1;
    WrittenFile written_;
};

/// The whole of a small file, as DurableFile.
WrittenFile write_file_durably(const std::filesystem::path& path, std::string_view content,
                               mode_t mode = 0666);

/// A folder that is written aside, as `.NAME.partial`, and appears under its name only after it is whole. Of
/// two writers at once the second takes the folder from the first: the caller sees to it that there is one.
class FolderAside {
  public:
    explicit FolderAside(std::filesystem::path target);
    ~FolderAside();  ///< removes what has not appeared
    FolderAside(const FolderAside&) = delete;
    FolderAside& operator=(const FolderAside&) = delete;

    const std::filesystem::path& path() const { return aside_; }

    /// A folder of that name goes to `.NAME.former`, this one takes its place, then the former is deleted. A
    /// kill in between leaves what restore_folders puts right.
    void appear();

  private:
    std::filesystem::path target_, aside_;
};

/// Renames a file or folder within its folder and flushes that.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Removes a file, if it is there, and flushes its folder.
void remove_durably(const std::filesystem::path& file);

/// Deletes a folder so that half of it is never seen under its name: it becomes `.NAME.removed` first. What
/// the system refuses to delete stays under that name, for restore_folders.
void remove_folder(const std::filesystem::path& folder);

/// Puts right what a killed process left in `parent`: a `.NAME.former` without NAME gets its name back; other
/// former, partial and removed folders are deleted.
void restore_folders(const std::filesystem::path& parent);

/// Flushes a folder's entries (names of files made or renamed in it) to the disk.
void sync_directory(const std::filesystem::path& dir);

/// Error(Refused) "PATH: cannot be written: No space left on device", from errno.
[[noreturn]] void throw_write_error(const std::filesystem::path& path);

}  // namespace ringmaster
