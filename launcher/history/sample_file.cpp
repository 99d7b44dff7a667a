#include "launcher/history/sample_file.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/events/bounded_json.h"
#include "engine/events/limits.h"
#include "launcher/base/bounded_file.h"

namespace ringmaster {

namespace {

using nlohmann::json;

constexpr size_t kFixedBytes = 200;  ///< bytes that a sample takes besides its texts

std::string text_at(const json& object, const char* key, size_t most) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end() || !found->is_string()) return {};
    std::string text = found->get<std::string>();
    limits::cut(text, most);
    return text;
}

/// Returns a prompt as a text. Each message of a chat is a line "role: content"; a question alone has no
/// role.
std::string prompt_text(const json& line) {
    constexpr size_t kMost = SampleFile::kMostPrompt;
    const json asked = line.value("asked", json());
    if (!asked.is_array()) return text_at(line, "asked", kMost);
    const auto is_question = [](const json& message) {
        return text_at(message, "role", limits::kName) == "user";
    };
    if (asked.size() == 1 && is_question(asked.front())) return text_at(asked.front(), "content", kMost);
    std::string text;
    for (const json& message : asked) {
        if (text.size() > kMost) break;
        text += (text.empty() ? "" : "\n") + text_at(message, "role", limits::kName) + ": " +
                text_at(message, "content", kMost);
    }
    limits::cut(text, kMost);
    return text;
}

std::optional<int64_t> whole_at(const json& line, const char* key, int64_t most) {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_number_integer()) return std::nullopt;
    const auto value = found->get<int64_t>();
    return value < 0 || value > most ? std::nullopt : std::optional(value);
}

size_t bytes_of(const Sample& sample) {
    return kFixedBytes + sample.prompt.size() + sample.text.size();
}

}  // namespace

std::optional<SampleLine> parse_sample(std::string_view text) {
    const json line = try_bounded_json(text, {.bytes = static_cast<size_t>(SampleFile::kMostLine)});
    if (!line.is_object()) return std::nullopt;
    const auto step = whole_at(line, "step", limits::kSteps);
    const auto prompt = whole_at(line, "prompt", SampleFile::kMostPrompts - 1);
    if (!step || !prompt) return std::nullopt;
    const auto asked = line.find("asked"), stopped = line.find("stopped");
    return SampleLine{*step,
                      static_cast<int>(*prompt),
                      {prompt_text(line), text_at(line, "text", SampleFile::kMostText),
                       asked != line.end() && asked->is_array(), stopped != line.end() && *stopped == true}};
}

bool SampleFile::poll() {
    const int64_t size = stamp_of(file_).bytes;
    if (size < offset_) {  // the file was replaced
        offset_ = 0;
        bytes_ = 0;
        skipping_ = false;
        steps_.clear();
    }
    if (size == offset_) return false;
    const std::string part = read_part(file_, offset_, kMostLine).value_or("");
    bool came = false;
    size_t begin = 0;
    for (size_t end; (end = part.find('\n', begin)) != std::string::npos; begin = end + 1) {
        if (!std::exchange(skipping_, false)) came |= take(std::string_view(part).substr(begin, end - begin));
    }
    if (begin == 0 && static_cast<int64_t>(part.size()) == kMostLine) {
        skipping_ = true;
        begin = part.size();
    }
    offset_ += static_cast<int64_t>(begin);
    return came;
}

bool SampleFile::take(std::string_view line) {
    std::optional<SampleLine> read = parse_sample(line);
    if (!read) return false;
    while (!steps_.empty() && steps_.rbegin()->first > read->step) drop(std::prev(steps_.end()));
    const auto [at, is_new] = steps_[read->step].try_emplace(read->prompt);
    if (!is_new) bytes_ -= bytes_of(at->second);
    at->second = std::move(read->sample);
    bytes_ += bytes_of(at->second);
    while (bytes_ > kMostBytes && steps_.size() > 1) drop(steps_.begin());
    return true;
}

void SampleFile::drop(std::map<int64_t, SamplesOfStep>::iterator step) {
    for (const auto& [prompt, sample] : step->second) bytes_ -= bytes_of(sample);
    steps_.erase(step);
}

}  // namespace ringmaster
