#include "engine/layout/local_rows.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ringmaster {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int64_t kMostBytes = int64_t{1} << 30;
constexpr size_t kChunk = size_t{1} << 20;
constexpr int64_t kWorthKeeping = int64_t{1} << 20;  // smaller files are counted again quickly

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Counts non-empty lines.
class LineCounter {
  public:
    void take(const char* begin, const char* end) {
        while (begin < end) {
            const auto* newline = static_cast<const char*>(std::memchr(begin, '\n', size_t(end - begin)));
            const char* stop = newline ? newline : end;
            filled_ = filled_ || !std::all_of(begin, stop, is_space);
            if (newline) finish_line();
            begin = newline ? newline + 1 : end;
        }
    }
    int64_t rows() const { return rows_ + (filled_ ? 1 : 0); }

  private:
    void finish_line() {
        rows_ += filled_ ? 1 : 0;
        filled_ = false;
    }
    int64_t rows_ = 0;
    bool filled_ = false;
};

/// Counts the elements of a JSON array: anything at depth 1 outside strings.
class ArrayCounter {
  public:
    void take(const char* begin, const char* end) {
        for (const char* at = begin; at < end; ++at) take(*at);
    }
    int64_t rows() const { return rows_; }

  private:
    void take(char c) {
        if (in_string_) {
            if (escaped_) {
                escaped_ = false;
            } else if (c == '\\') {
                escaped_ = true;
            } else if (c == '"') {
                in_string_ = false;
            }
            return;
        }
        const bool starts = depth_ == 1 && !in_element_ && !is_space(c) && c != ']' && c != ',';
        if (starts) {
            ++rows_;
            in_element_ = true;
        }
        if (depth_ == 1 && c == ',') in_element_ = false;
        if (c == '"') in_string_ = true;
        if (c == '[' || c == '{') ++depth_;
        if (c == ']' || c == '}') --depth_;
    }
    int64_t rows_ = 0;
    int depth_ = 0;
    bool in_element_ = false, in_string_ = false, escaped_ = false;
};

template <typename Counter>
int64_t count_with(Counter counter, std::ifstream& file, int64_t& budget) {
    std::vector<char> chunk(kChunk);
    while (budget > 0) {
        file.read(chunk.data(), static_cast<std::streamsize>(std::min<int64_t>(budget, int64_t{kChunk})));
        const std::streamsize got = file.gcount();
        if (got <= 0) break;
        counter.take(chunk.data(), chunk.data() + got);
        budget -= got;
    }
    return counter.rows();
}

/// Caches the row counts of whole files, because the app makes a plan at every keystroke.
class CountedFiles {
  public:
    std::optional<int64_t> rows_of(const std::string& path, int64_t size, fs::file_time_type changed) {
        const std::lock_guard lock(mutex_);
        const auto found = files_.find(path);
        const bool same =
            found != files_.end() && found->second.size == size && found->second.changed == changed;
        return same ? std::optional(found->second.rows) : std::nullopt;
    }
    void keep(const std::string& path, int64_t size, fs::file_time_type changed, int64_t rows) {
        constexpr size_t kMost = 1000;
        const std::lock_guard lock(mutex_);
        if (files_.size() >= kMost) files_.clear();
        files_[path] = {size, changed, rows};
    }

  private:
    struct File {
        int64_t size;
        fs::file_time_type changed;
        int64_t rows;
    };
    std::mutex mutex_;
    std::map<std::string, File> files_;
};

CountedFiles& counted_files() {
    static CountedFiles files;
    return files;
}

/// Adds a file's rows to `sum`; returns false if it cannot be read as a regular file.
bool count_file(const std::string& path, int64_t& budget, LocalRows& sum) {
    std::error_code failed;
    if (!fs::is_regular_file(path, failed)) return false;
    const auto size = static_cast<int64_t>(fs::file_size(path, failed));
    const fs::file_time_type changed = fs::last_write_time(path, failed);
    const auto known = counted_files().rows_of(path, size, changed);
    if (known && size <= budget) {
        budget -= size;
        sum.rows += *known;
        return true;
    }
    std::ifstream file(path, std::ios::binary);
    if (failed || !file) return false;
    char first = ' ';
    while (is_space(first) && file.get(first)) {
    }
    file.clear();
    file.seekg(0);
    const int64_t before = budget;
    const int64_t rows =
        first == '[' ? count_with(ArrayCounter(), file, budget) : count_with(LineCounter(), file, budget);
    const int64_t read = before - budget;
    if (read >= size) {
        if (read == size && size >= kWorthKeeping) counted_files().keep(path, size, changed, rows);
        sum.rows += rows;
        return true;
    }
    if (read == 0) return false;  // nothing to extrapolate from
    sum.exact = false;
    sum.rows += static_cast<int64_t>(double(rows) * double(size) / double(read));
    return true;
}

bool is_json_file(const std::string& path, const std::string& type) {
    if (type == "json" || type == "jsonl") return true;
    if (!type.empty()) return false;
    const std::string suffix = fs::path(path).extension().string();
    return suffix == ".jsonl" || suffix == ".json" || suffix == ".ndjson";
}

std::string text_of(const json& entry, const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns the local files of a dataset entry; empty if it names anything else.
std::vector<std::string> files_of(const json& entry) {
    if (!entry.is_object() || text_of(entry, "split").find('[') != std::string::npos) return {};
    // The type `completion` cuts a text into several rows.
    if (text_of(entry, "type") == "completion") return {};
    const std::string path = text_of(entry, "path");
    const std::string type = text_of(entry, "ds_type");
    const auto files = entry.find("data_files");
    if (files == entry.end() || files->is_null()) {
        return is_json_file(path, type) ? std::vector{path} : std::vector<std::string>{};
    }
    if (!files->is_array() || (path != "json" && path != "jsonl")) return {};
    std::vector<std::string> paths;
    for (const json& file : *files) {
        if (!file.is_string()) return {};
        paths.push_back(file.get<std::string>());
    }
    return paths;
}

}  // namespace

std::optional<LocalRows> count_local_rows(const Config& config) {
    if (config.sample_packing || !config.datasets.is_array() || config.datasets.empty()) return std::nullopt;
    LocalRows sum;
    int64_t budget = kMostBytes;
    for (const json& entry : config.datasets) {
        const std::vector<std::string> files = files_of(entry);
        if (files.empty()) return std::nullopt;
        for (const std::string& file : files) {
            if (!count_file(file, budget, sum)) return std::nullopt;
        }
    }
    return sum;
}

int64_t training_rows(const Config& config, int64_t rows) {
    if (!(config.val_set_size > 0)) return rows;
    const double taken =
        config.val_set_size < 1 ? std::ceil(config.val_set_size * double(rows)) : config.val_set_size;
    return taken >= double(rows) ? 0 : rows - static_cast<int64_t>(taken);
}

}  // namespace ringmaster
