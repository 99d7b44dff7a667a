#include "engine/files/checkpoints.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/files/crc32c.h"
#include "engine/files/safetensors.h"
#include "engine/json_problem.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "step-";
constexpr int64_t kMostListBytes = 4 << 20;  ///< size limit of `complete`, enough for about 30,000 files
constexpr size_t kReadBlock = 1 << 20;

struct Closing {
    int file;
    ~Closing() { ::close(file); }
};

std::string reason_of(int error) {
    return std::strerror(error);
}

/// Reads a file in blocks. Returns the problem, or an empty string.
std::string read_blocks(const fs::path& path, const std::function<void(const char*, size_t)>& take) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return errno == ENOENT ? "is missing" : "cannot be read: " + reason_of(errno);
    const Closing closing{file};
    struct stat about {};
    if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return "is not a file";
    std::string block(kReadBlock, '\0');
    while (true) {
        const ssize_t got = ::read(file, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return "cannot be read: " + reason_of(errno);
        if (got == 0) return "";
        take(block.data(), static_cast<size_t>(got));
    }
}

/// Returns the size of a regular file, or nothing if there is none.
std::optional<int64_t> size_of(const fs::path& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    return about.st_size;
}

std::string hex(uint32_t sum) {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", sum);
    return text;
}

uint32_t sum_from(const std::string& text) {
    uint32_t sum = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), sum, 16);
    if (text.size() != 8 || problem != std::errc() || end != text.data() + text.size())
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "'" + text + "' is not a checksum");
    return sum;
}

/// Reads an entry of the list of files. The list may come from another machine, so names must stay inside the
/// folder.
WrittenFile listed_file(const nlohmann::json& entry) {
    WrittenFile file{entry.at("name"), entry.at("bytes"), sum_from(entry.at("crc32c"))};
    if (file.name.empty() || file.name.front() == '.' || file.name.find('/') != std::string::npos)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "'" + file.name + "' is not a name of a checkpoint's file");
    return file;
}

/// Rejects deep nesting during parsing, because a tree of nested JSON takes much more memory than its text.
bool flat_enough(int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > 3) throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is nested too deeply");
    return true;
}

struct Listed {
    std::vector<WrittenFile> files;  ///< empty if an older version wrote the checkpoint, without a list
    std::string damage;
};

Listed list_of(const fs::path& checkpoint) {
    Listed listed;
    std::string text;
    const fs::path complete_file = checkpoint / kCompleteFile;
    const std::optional<int64_t> size = size_of(complete_file);
    if (!size) return {{}, "was not saved to its end"};
    if (*size > kMostListBytes) return {{}, "its list of files is too long"};
    listed.damage =
        read_blocks(complete_file, [&](const char* bytes, size_t count) { text.append(bytes, count); });
    if (!listed.damage.empty() || text.empty()) return listed;
    try {
        const nlohmann::json complete = nlohmann::json::parse(text, flat_enough);
        for (const nlohmann::json& entry : complete.at("files")) listed.files.push_back(listed_file(entry));
        if (listed.files.empty()) throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is empty");
    } catch (const std::exception& problem) {
        listed.files.clear();
        listed.damage = "its list of files is damaged: " + json_problem(problem);
    }
    return listed;
}

std::string size_damage(const fs::path& checkpoint, const WrittenFile& file) {
    const std::optional<int64_t> bytes = size_of(checkpoint / file.name);
    if (!bytes) return file.name + " is missing";
    if (*bytes == file.bytes) return "";
    return file.name + " has " + std::to_string(*bytes) + " bytes, " + std::to_string(file.bytes) +
           " were saved";
}

std::string content_damage(const fs::path& checkpoint, const WrittenFile& file,
                           const BetweenBlocks& between) {
    uint32_t sum = 0;
    const std::string unreadable = read_blocks(checkpoint / file.name, [&](const char* bytes, size_t count) {
        sum = crc32c(sum, bytes, count);
        if (between) between();
    });
    if (!unreadable.empty()) return file.name + " " + unreadable;
    if (sum == file.crc32c) return "";
    return file.name + " has another content than was saved: its CRC-32C is " + hex(sum) + " instead of " +
           hex(file.crc32c);
}

/// Checks a checkpoint of an older version: everything that a resume reads must exist.
std::string unlisted_damage(const fs::path& checkpoint) {
    for (const char* name : {kTrainerStateFile, kOptimizerFile}) {
        if (!size_of(checkpoint / name)) return std::string(name) + " is missing";
    }
    bool has_weights = false;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(checkpoint, none)) {
        if (entry.path().extension() != ".safetensors") continue;
        try {
            const SafetensorsFile whole(entry.path());
        } catch (const Error& problem) {
            return entry.path().filename().string() + " " + problem.what();
        }
        has_weights = has_weights || entry.path().filename() != kOptimizerFile;
    }
    return has_weights ? "" : "the weights are missing";
}

/// Returns the steps of everything that is named like a checkpoint, ascending.
std::vector<int64_t> named_checkpoints(const fs::path& checkpoints) {
    std::vector<int64_t> steps;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(checkpoints, none)) {
        if (const auto step = step_of_checkpoint(entry.path().filename().string())) steps.push_back(*step);
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

std::string joined(const std::vector<int64_t>& steps) {
    std::string text;
    for (const int64_t step : steps) text += (text.empty() ? "" : ", ") + std::to_string(step);
    return text;
}

CheckpointChoice newest_whole(const fs::path& checkpoints, const BetweenBlocks& between) {
    CheckpointChoice choice;
    std::vector<int64_t> steps = named_checkpoints(checkpoints);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        std::string damage = damage_of(checkpoints / checkpoint_name(*step), between);
        if (damage.empty()) {
            choice.step = *step;
            break;
        }
        choice.passed_over.push_back({*step, std::move(damage)});
    }
    return choice;
}

}  // namespace

std::string checkpoint_name(int64_t step) {
    const std::string digits = std::to_string(step);
    return std::string(kPrefix) + std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
}

std::optional<int64_t> step_of_checkpoint(const std::string& name) {
    if (!name.starts_with(kPrefix)) return std::nullopt;
    int64_t step = 0;
    const char* end = name.data() + name.size();
    const auto [stop, problem] = std::from_chars(name.data() + kPrefix.size(), end, step);
    if (problem != std::errc() || stop != end || step < 0 || checkpoint_name(step) != name)
        return std::nullopt;
    return step;
}

std::string complete_text(const std::vector<WrittenFile>& files) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const WrittenFile& file : files)
        list.push_back({{"name", file.name}, {"bytes", file.bytes}, {"crc32c", hex(file.crc32c)}});
    return nlohmann::ordered_json{{"files", std::move(list)}}.dump(2) + "\n";
}

std::vector<int64_t> complete_checkpoints(const fs::path& checkpoints) {
    std::vector<int64_t> steps = named_checkpoints(checkpoints);
    std::erase_if(steps, [&](int64_t step) {
        const fs::path checkpoint = checkpoints / checkpoint_name(step);
        const Listed listed = list_of(checkpoint);
        return !listed.damage.empty() ||
               std::any_of(listed.files.begin(), listed.files.end(),
                           [&](const WrittenFile& file) { return !size_damage(checkpoint, file).empty(); });
    });
    return steps;
}

std::string damage_of(const fs::path& checkpoint, const BetweenBlocks& between) {
    const Listed listed = list_of(checkpoint);
    if (!listed.damage.empty()) return listed.damage;
    if (listed.files.empty()) return unlisted_damage(checkpoint);
    for (const WrittenFile& file : listed.files) {
        if (std::string damage = size_damage(checkpoint, file); !damage.empty()) return damage;
    }
    for (const WrittenFile& file : listed.files) {
        if (std::string damage = content_damage(checkpoint, file, between); !damage.empty()) return damage;
    }
    return "";
}

std::vector<std::string> words_of(const CheckpointChoice& choice) {
    std::vector<std::string> lines;
    for (const PassedOver& passed : choice.passed_over)
        lines.push_back("the checkpoint of step " + std::to_string(passed.step) +
                        " is passed over: " + passed.why);
    return lines;
}

CheckpointChoice choose_checkpoint(const fs::path& checkpoints, std::optional<int64_t> asked,
                                   const BetweenBlocks& between) {
    if (!asked) return newest_whole(checkpoints, between);
    const fs::path checkpoint = checkpoints / checkpoint_name(*asked);
    const std::string step = std::to_string(*asked);
    std::error_code none;
    if (!fs::exists(checkpoint / kCompleteFile, none)) {
        const std::string there = joined(complete_checkpoints(checkpoints));
        throw Error(Failure::Usage, Code("RUN-CHECKPOINT"), "there is no complete checkpoint of step " + step,
                    checkpoints.string(),
                    there.empty() ? "there is none at all: the run can only start from the beginning"
                                  : "there are complete ones of step " + there);
    }
    const std::string damage = damage_of(checkpoint, between);
    if (damage.empty()) return {asked, {}};
    const std::optional<int64_t> newest = newest_whole(checkpoints, between).step;
    throw Error(
        Failure::Refused, Code("FILE-DAMAGED"), "the checkpoint of step " + step + " is damaged: " + damage,
        checkpoint.string(),
        newest ? "the newest whole one is of step " + std::to_string(*newest) : "there is no whole one");
}

std::vector<std::string> abandon_later(const fs::path& checkpoints, std::optional<int64_t> from,
                                       int attempt) {
    std::vector<std::string> names;
    for (const int64_t step : named_checkpoints(checkpoints)) {
        if (from && step <= *from) continue;
        const std::string name = checkpoint_name(step) + ".abandoned-by-attempt-" + std::to_string(attempt);
        std::string free = name;
        for (int number = 2; fs::exists(fs::symlink_status(checkpoints / free)); ++number)
            free = name + "-" + std::to_string(number);
        rename_durably(checkpoints / checkpoint_name(step), checkpoints / free);
        names.push_back(free);
    }
    return names;
}

}  // namespace ringmaster
