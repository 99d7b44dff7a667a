#include "launcher/base/log_follower.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr size_t kShownLine = 8 << 10;  ///< bytes of a log line that are shown; longer lines are cut

}  // namespace

std::vector<std::string> LogFollower::poll(int64_t max_bytes) {
    std::vector<std::string> lines;
    std::error_code none;
    const auto size = static_cast<int64_t>(fs::file_size(file_, none));
    if (none || !fs::is_regular_file(file_, none)) return lines;
    if (size < offset_) offset_ = 0;  // the file was replaced
    std::ifstream in(file_, std::ios::binary);
    if (!in.seekg(offset_)) return lines;
    std::string text(static_cast<size_t>(std::min(max_bytes, size - offset_)), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(in.gcount()));
    size_t begin = 0;
    const auto shown = [&](size_t from, size_t length) {
        return text.substr(from, std::min(length, kShownLine)) + (length > kShownLine ? "…" : "");
    };
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        lines.push_back(shown(begin, end - begin));
    if (begin == 0 && static_cast<int64_t>(text.size()) == max_bytes) {  // the line is longer than one read
        lines.push_back(shown(0, text.size()));
        begin = text.size();
    }
    offset_ += static_cast<int64_t>(begin);
    return lines;
}

}  // namespace ringmaster
