#include "launcher/base/files.h"

#include <sys/stat.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/files/durable.h"
#include "launcher/base/bounded_file.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostJsonBytes = 64 << 20;
constexpr JsonLimits kJsonLimits{kMostJsonBytes, 64, 1 << 20};

mode_t mode_of(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
        throw Error(Failure::Usage, Code("FILE-MISSING"),
                    std::string("cannot be read: ") + std::strerror(errno), path.string());
    return status.st_mode & 0777;
}

}  // namespace

void write_file(const fs::path& file, std::string_view content) {
    write_file_durably(file, content);
}

void copy_text_file(const fs::path& from, const fs::path& to) {
    const mode_t most = mode_of(from);
    if (fs::exists(to)) ::chmod(to.c_str(), mode_of(to) & most);  // write_file_durably keeps an existing mode
    write_file_durably(to, read_file(from), most);
}

void restrict_folder(const fs::path& folder, const fs::path& file) {
    const mode_t readers = mode_of(file) & 0444;
    const mode_t allowed = 0700 | readers | readers >> 2;  // whoever may read the file may enter the folder
    if (::chmod(folder.c_str(), mode_of(folder) & allowed) != 0)
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    std::string("cannot be made private: ") + std::strerror(errno), folder.string());
}

nlohmann::json read_json_file(const fs::path& file) {
    nlohmann::json json = try_bounded_json(read_bounded(file, kMostJsonBytes), kJsonLimits);
    if (!json.is_object())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: not a JSON object", file.string());
    return json;
}

void make_folder(const fs::path& folder) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem)
        throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be made: " + problem.message(),
                    folder.string());
}

}  // namespace ringmaster
