#include "launcher/files.h"

#include <sys/stat.h>

#include <QFile>
#include <QSaveFile>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "launcher/bounded_file.h"

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

/// With at most the rights of `most`, which it has before a byte of the content is in it.
void write(const fs::path& file, std::string_view content, mode_t most) {
    QSaveFile out(QFile::decodeName(file.c_str()));
    struct stat made {};
    const bool good = out.open(QIODevice::WriteOnly) && ::fstat(out.handle(), &made) == 0 &&
                      (most == 0777 || ::fchmod(out.handle(), made.st_mode & most & 0777) == 0) &&
                      out.write(content.data(), static_cast<qint64>(content.size())) ==
                          static_cast<qint64>(content.size()) &&
                      out.commit();
    if (!good)
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    "cannot be written: " + out.errorString().toStdString(), file.string());
}

}  // namespace

std::string read_file(const fs::path& file) {
    std::error_code problem;
    if (fs::is_directory(file, problem))
        throw Error(Failure::Usage, Code("FILE-MISSING"), "is a folder, not a file", file.string());
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw Error(Failure::Usage, Code("FILE-MISSING"),
                    std::string("cannot be read: ") + std::strerror(errno), file.string());
    std::ostringstream content;
    content << in.rdbuf();
    return content.str();
}

void write_file(const fs::path& file, std::string_view content) {
    write(file, content, 0777);
}

void copy_text_file(const fs::path& from, const fs::path& to) {
    write(to, read_file(from), mode_of(from));
}

void restrict_folder(const fs::path& folder, const fs::path& file) {
    const mode_t readers = mode_of(file) & 0444;
    const mode_t allowed = 0700 | readers | readers >> 2;  // whoever may read it may enter
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
