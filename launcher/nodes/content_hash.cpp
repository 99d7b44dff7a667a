#include <openssl/evp.h>
#include <sys/stat.h>

#include <ctime>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/error.h"
#include "launcher/base/files.h"
#include "launcher/base/places.h"
#include "launcher/nodes/stage.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr size_t kPiece = 1 << 20;
constexpr int64_t kWorthKnowing = 64 << 20;  ///< minimum bytes; smaller files are quickly read again
constexpr int64_t kTold = 16 << 20;          ///< bytes between two reports of progress
constexpr const char* kDigits = "0123456789abcdef";
constexpr size_t kMostKnown = 4096;
/// Seconds for which a file must have stayed unchanged: two changes in one clock tick look like one.
constexpr double kSettled_s = 1;

/// Returns values that change whenever the content does, among them the ctime, which no program can set.
std::optional<Json> identity_of(const fs::path& file) {
    struct stat about {};
    if (::stat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    return Json{about.st_dev,          about.st_ino,         about.st_size,        about.st_mtim.tv_sec,
                about.st_mtim.tv_nsec, about.st_ctim.tv_sec, about.st_ctim.tv_nsec};
}

bool is_settled(const fs::path& file) {
    struct stat about {};
    timespec now{};
    return ::stat(file.c_str(), &about) == 0 && ::clock_gettime(CLOCK_REALTIME, &now) == 0 &&
           double(now.tv_sec - about.st_ctim.tv_sec) + 1e-9 * double(now.tv_nsec - about.st_ctim.tv_nsec) >
               kSettled_s;
}

/// Returns {"/path": {"of": identity, "sha256": "…"}}; empty if the file is missing or damaged.
Json read_known(const fs::path& memory) {
    try {
        return read_json_file(memory);
    } catch (const Error&) {
        return Json::object();
    }
}

/// Returns the stored hash; empty if there is none for the file's current content.
std::string known_hash(const fs::path& memory, const fs::path& file, const Json& identity) {
    try {
        const Json entry = read_known(memory).at(file.string());
        const std::string hash = entry.at("sha256");
        const bool sound = hash.size() == 64 && hash.find_first_not_of(kDigits) == std::string::npos;
        if (sound && entry.at("of") == identity) return hash;
    } catch (const Json::exception&) {  // the entry is missing, or the file was edited by hand
        return {};
    }
    return {};
}

void remember(const fs::path& memory, const fs::path& file, const Json& identity, const std::string& hash) {
    Json known = read_known(memory);
    std::error_code none;
    if (known.size() >= kMostKnown) {
        for (auto at = known.begin(); at != known.end();)
            at = fs::exists(at.key(), none) ? std::next(at) : known.erase(at);
        if (known.size() >= kMostKnown) known.clear();
    }
    known[file.string()] = {{"of", identity}, {"sha256", hash}};
    try {
        make_folder(memory.parent_path());
        write_file(memory, known.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    } catch (const Error&) {  // the file is hashed again next time
        return;
    }
}

std::string hash_of(const fs::path& file, const Progress& progress) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw Error(Failure::Usage, Code("FILE-MISSING"), "cannot be read", file.string());
    std::error_code none;
    const auto size = static_cast<int64_t>(fs::file_size(file, none));
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> hash(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    bool good = hash && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1;
    std::string piece(kPiece, '\0');
    int64_t done = 0;
    while (good && (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0)) {
        progress.stop_if_cancelled();
        good = EVP_DigestUpdate(hash.get(), piece.data(), static_cast<size_t>(in.gcount())) == 1;
        done += in.gcount();
        if (done % kTold < static_cast<int64_t>(kPiece) && done >= kTold)
            progress.report({"read", {file.filename().string()}, done, size, true});
    }
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (!good || EVP_DigestFinal_ex(hash.get(), digest, &length) != 1)
        throw Error(Failure::Refused, Code("INTERNAL-ERROR"), "SHA-256 cannot be computed", file.string());
    std::string text;
    for (unsigned i = 0; i < length; ++i) text += {kDigits[digest[i] >> 4], kDigits[digest[i] & 15]};
    return text;
}

}  // namespace

std::string content_hash(const fs::path& file, const Progress& progress) {
    // Many nodes need the same files at once: the first thread reads a file, the others use its result.
    static std::mutex turn;
    const std::optional<Json> identity = identity_of(file);
    if (!identity || (*identity)[2] < kWorthKnowing) return hash_of(file, progress);
    const std::lock_guard lock(turn);
    const fs::path memory = find_places().cache_dir / "content-hashes.json";
    const fs::path name = fs::absolute(file);
    if (std::string known = known_hash(memory, name, *identity); !known.empty()) return known;
    std::string hash = hash_of(file, progress);
    if (is_settled(file) && identity_of(file) == identity) remember(memory, name, *identity, hash);
    return hash;
}

}  // namespace ringmaster
