#include "engine/config/paths.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

std::string home() {
    const char* folder = std::getenv("HOME");
    return folder && *folder ? folder : "/";
}

/// Returns whether the text is a word of letters, digits and _ - . that does not begin with a dot.
bool is_name(std::string_view text) {
    return !text.empty() && text.front() != '.' && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80;
    });
}

}  // namespace

std::string absolute_path(const std::string& base_dir, const std::string& path) {
    if (path == "~") return home();
    if (path.starts_with("~/")) return fs::path(home() + path.substr(1)).lexically_normal().string();
    std::string joined = (fs::path(base_dir) / path).lexically_normal().string();
    if (joined.size() > 1 && joined.ends_with('/')) joined.pop_back();
    return joined;
}

bool looks_like_path(const std::string& path) {
    if (path.find("://") != std::string::npos) return false;
    const std::size_t slash = path.find('/');
    if (slash == std::string::npos) return !is_name(path);
    return !is_name(path.substr(0, slash)) || !is_name(path.substr(slash + 1));
}

std::string full_path(const std::string& path) {
    std::error_code failure;
    const fs::path absolute = fs::absolute(path, failure);
    return (failure ? fs::path(path) : absolute).lexically_normal().string();
}

std::string parent_of(const std::string& path) {
    return fs::path(path).parent_path().string();
}

bool is_folder(const std::string& path) {
    std::error_code failure;
    return fs::is_directory(path, failure);
}

bool exists(const std::string& path) {
    std::error_code failure;
    return fs::exists(path, failure);
}

std::optional<std::string> read_at_most(const std::string& path, std::size_t most) {
    constexpr std::size_t kPiece = std::size_t{16} << 10;
    std::ifstream file(path, std::ios::binary);
    if (is_folder(path) || !file) return std::nullopt;
    std::string text;
    while (file && text.size() < most) {
        const std::size_t begin = text.size();
        text.resize(std::min(most, begin + kPiece));
        file.read(text.data() + begin, static_cast<std::streamsize>(text.size() - begin));
        text.resize(begin + static_cast<std::size_t>(file.gcount()));
    }
    return text;
}

}  // namespace ringmaster
