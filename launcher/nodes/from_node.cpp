#include "launcher/nodes/from_node.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "engine/control_characters.h"
#include "engine/error.h"
#include "engine/events/limits.h"
#include "engine/events/output_claim.h"
#include "engine/files/checkpoints.h"

namespace ringmaster {

namespace {

constexpr size_t kLongestHead = 256;
constexpr int64_t kLargestPiece = 4 << 20;
constexpr size_t kHashDigits = 64;
constexpr size_t kMostFiles = 4096;
constexpr size_t kMostLeftOut = 20;
constexpr int64_t kLargestFile = int64_t{1} << 46;
constexpr size_t kLongestFileName = 200;
constexpr size_t kMostCheckpoints = 100'000;
constexpr size_t kLongestMeeting = 256;
constexpr std::string_view kSizes = "sizes";

[[noreturn]] void refuse(const std::string& what) {
    throw Error(Failure::Refused, Code("NODE-AGENT"), "sends what it may not: " + what);
}

std::string shown(std::string_view text) {
    constexpr size_t kShown = 80;
    return "'" + text_of_node(std::string(text.substr(0, kShown)), kShown) + "'";
}

bool is_hash(std::string_view text) {
    return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Takes a line of sha256sum: "HASH  ./NAME".
void take_hash(const std::string& line, Manifest& manifest) {
    constexpr std::string_view kBetween = "  ./";
    const std::string_view hash = std::string_view(line).substr(0, kHashDigits);
    if (!is_hash(hash) || line.compare(kHashDigits, kBetween.size(), kBetween) != 0) return;
    const std::string name = line.substr(kHashDigits + kBetween.size());
    if (name == kOutputMarker) return;
    if (is_result_name(name)) {
        manifest.files[name] = {std::string(hash), -1};
        if (manifest.files.size() > kMostFiles) refuse("more than " + std::to_string(kMostFiles) + " files");
    } else if (manifest.left_out.size() < kMostLeftOut) {
        manifest.left_out.push_back(text_of_node(name, kLongestFileName));
    }
}

/// Takes a line of wc: "  1234 ./NAME".
void take_size(const std::string& line, Manifest& manifest) {
    const size_t digits = line.find_first_not_of(' ');
    const size_t name = line.find(" ./");
    if (digits == std::string::npos || name == std::string::npos || name < digits) return;
    const auto file = manifest.files.find(line.substr(name + 3));
    if (file == manifest.files.end()) return;
    const auto size = number_of_node(std::string_view(line).substr(digits, name - digits), 0, kLargestFile);
    if (!size) refuse("a size of " + shown(line));
    file->second.size = *size;
}

}  // namespace

void FollowFrames::take(std::string_view bytes) {
    pending_.erase(0, read_);
    read_ = 0;
    pending_ += bytes;
}

FollowFrame FollowFrames::head_of(std::string_view line, int64_t& size) {
    size = 0;
    if (line == "beat") return {FollowFrame::Kind::Beat};
    if (line == "over") return {FollowFrame::Kind::Over};
    const size_t last = line.rfind(' ');
    const auto told =
        number_of_node(last == std::string_view::npos ? "" : line.substr(last + 1), 0, kLargestPiece);
    if (!told) refuse(shown(line));
    size = *told;
    if (line.substr(0, last) == "state") return {FollowFrame::Kind::State};
    const size_t middle = last == 0 ? std::string_view::npos : line.rfind(' ', last - 1);
    if (!line.starts_with("file ") || middle == std::string_view::npos || middle < 5) refuse(shown(line));
    const auto file = record_.find(std::string(line.substr(5, middle - 5)));
    if (file == record_.end())
        refuse("the file " + shown(line.substr(5, middle - 5)) + ", which it does not write");
    const auto offset = number_of_node(line.substr(middle + 1, last - middle - 1), 0, limits::kCount);
    if (!offset || *offset != file->second)
        refuse(file->first + " from another byte than " + std::to_string(file->second));
    return {FollowFrame::Kind::File, file->first, *offset};
}

std::optional<FollowFrame> FollowFrames::next() {
    const size_t end = pending_.find('\n', read_);
    const size_t length = (end == std::string::npos ? pending_.size() : end) - read_;
    if (length > kLongestHead) refuse("a line of more than " + std::to_string(kLongestHead) + " bytes");
    if (end == std::string::npos) return std::nullopt;
    int64_t size = 0;
    FollowFrame frame = head_of(std::string_view(pending_).substr(read_, length), size);
    if (pending_.size() - end - 1 < static_cast<size_t>(size)) return std::nullopt;
    frame.bytes = pending_.substr(end + 1, static_cast<size_t>(size));
    read_ = end + 1 + static_cast<size_t>(size);
    if (frame.kind == FollowFrame::Kind::File) record_[frame.file] += size;
    return frame;
}

Manifest parse_manifest(const std::string& text) {
    Manifest manifest;
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line) && line != kSizes) take_hash(line, manifest);
    while (std::getline(lines, line)) take_size(line, manifest);
    for (const auto& [name, file] : manifest.files) {
        if (file.size < 0) refuse("no size of " + name);
        manifest.bytes += file.size;
    }
    return manifest;
}

bool is_result_name(std::string_view name) {
    if (name == "complete") return true;
    const bool is_plain = name.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "._-") == std::string_view::npos;
    constexpr std::array<std::string_view, 5> kEndings = {".safetensors", ".json", ".txt", ".model",
                                                          ".jinja"};
    return is_plain && !name.empty() && name.size() <= kLongestFileName && name.front() != '.' &&
           name.front() != '-' && std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
               return name.size() > ending.size() && name.ends_with(ending);
           });
}

std::vector<int64_t> parse_checkpoints(const std::string& text) {
    std::vector<int64_t> steps;
    std::istringstream lines(text);
    for (std::string name; std::getline(lines, name) && steps.size() < kMostCheckpoints;) {
        const auto step = step_of_checkpoint(name);
        if (step && *step <= limits::kSteps) steps.push_back(*step);
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::string parse_meeting(const std::string& said) {
    constexpr std::string_view kMark = "meet ";
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(kMark)) continue;
        const std::string place = line.substr(kMark.size());
        const bool is_good =
            !place.empty() && place.size() <= kLongestMeeting &&
            std::none_of(place.begin(), place.end(), [](char c) { return is_control(c) || c == ' '; });
        return is_good ? place : "";
    }
    return "";
}

bool is_node_path(std::string_view path) {
    if (path.empty() || path.front() != '/' || path.size() > limits::kName) return false;
    if (has_controls(path)) return false;
    return path.find("/../") == std::string_view::npos && !path.ends_with("/..");
}

std::string text_of_node(std::string text, size_t most) {
    if (text.size() > most) text.resize(most);
    return without_controls(std::move(text));
}

std::optional<int64_t> number_of_node(std::string_view text, int64_t least, int64_t most) {
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return std::nullopt;
    return value;
}

}  // namespace ringmaster
