#include "launcher/base/pip_progress.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ringmaster {

namespace {

constexpr std::string_view kUnpacking = "Installing collected packages: ";

std::string_view without_indent(std::string_view line) {
    return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

/// Returns "torch 2.11.0" for "torch-2.11.0-cp311-….whl (530.6 MB)".
std::string package_of(std::string_view file) {
    const size_t name = file.find('-');
    if (name == std::string_view::npos) return std::string(file.substr(0, file.find(' ')));
    const size_t version = file.find_first_of("- ", name + 1);
    std::string text(file.substr(0, version));
    text[name] = ' ';
    return text;
}

/// Returns the bytes that "(530.6 MB)" at the end of the line stands for; 0 if there is no such text.
int64_t size_at_end(std::string_view line) {
    const size_t open = line.rfind('(');
    if (open == std::string_view::npos) return 0;
    char* unit = nullptr;
    const std::string text(line.substr(open + 1));
    const double number = std::strtod(text.c_str(), &unit);
    while (*unit == ' ') ++unit;
    const double scale = *unit == 'G' ? 1e9 : *unit == 'M' ? 1e6 : *unit == 'k' ? 1e3 : 1.0;
    return static_cast<int64_t>(number * scale);
}

bool is_metadata(std::string_view rest) {
    return rest.find(".metadata") != std::string_view::npos;
}

}  // namespace

bool PipProgress::take(const std::string& line) {
    const std::string_view text = without_indent(line);
    const auto follows = [text](std::string_view start) {
        return text.starts_with(start) ? text.substr(start.size()) : std::string_view();
    };
    if (const auto counted = follows("Progress "); !counted.empty()) {
        file_bytes_ = std::strtoll(std::string(counted).c_str(), nullptr, 10);
        return false;
    }
    if (const auto file = follows("Downloading "); !file.empty() && !is_metadata(file)) {
        whole_bytes_ += file_bytes_;
        file_bytes_ = 0;
        step_ = {"download", {package_of(file)}};
    } else if (const auto kept = follows("Using cached "); !kept.empty() && !is_metadata(kept)) {
        whole_bytes_ += file_bytes_ + size_at_end(kept);
        file_bytes_ = 0;
    } else if (const auto names = follows(kUnpacking); !names.empty()) {
        packages_ = 1 + std::count(names.begin(), names.end(), ',');
    }
    return true;
}

ProgressStep PipProgress::step(int64_t unpacked) const {
    if (is_unpacking()) return {"unpack", {}, std::min(unpacked, packages_), packages_};
    const int64_t done = whole_bytes_ + file_bytes_;
    return {step_.code, step_.with, done, std::max(done, expected_bytes_), true};
}

}  // namespace ringmaster
