#include <charconv>
#include <optional>

#include "engine/error.h"
#include "engine/events/step_fields.h"
#include "engine/files/durable.h"
#include "launcher/base/files.h"
#include "launcher/history/export.h"
#include "launcher/run/recorded_run.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

struct HeaderWriter {
    std::string& row;

    void operator()(const char* name, const auto& /*value*/) { row += ',', row += name; }
    void if_any(const char* name, const auto& value) { (*this)(name, value); }
};

/// Writes a value as the shortest text that reads back as the same value in any locale, and nothing for a
/// value that is not known.
struct ValueWriter {
    std::string& row;

    void operator()(const char* /*name*/, auto value) { append(value); }
    void operator()(const char* name, const std::optional<double>& value) { if_any(name, value); }
    void if_any(const char* /*name*/, const std::optional<double>& value) {
        value ? append(*value) : void(row += ',');
    }
    void if_any(const char* /*name*/, bool value) { row += value ? ",true" : ","; }
    /// Writes "name=0.5; other=1" in quotes.
    void if_any(const char* /*name*/, const std::map<std::string, double>& values) {
        row += ',';
        std::string text;
        for (const auto& [name, value] : values)
            text += (text.empty() ? "" : "; ") + name + '=' + shortest(value);
        for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
        if (!text.empty()) row += '"' + text + '"';
    }

    void append(auto value) { row += ',' + shortest(value); }

    static std::string shortest(auto value) {
        char text[32];
        return {text, std::to_chars(text, text + sizeof text, value).ptr};
    }
};

std::string header() {
    std::string row = "rank,t";
    HeaderWriter writer{row};
    const StepEvent any;
    each_field(writer, any);
    return row + "\r\n";
}

void append_row(std::string& text, int rank, const Timed<StepEvent>& step) {
    text += std::to_string(rank);
    ValueWriter writer{text};
    writer.append(step.t);
    each_field(writer, step.event);
    text += "\r\n";
}

}  // namespace

Exported export_csv(const RunDirectory& run, const fs::path& file) {
    if (fs::is_directory(file))
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is a folder; a CSV is one file", file.string(),
                    "--to " + (file / (run.name() + ".csv")).string());
    const std::vector<int> ranks = recorded_ranks(run);
    if (!file.parent_path().empty()) make_folder(file.parent_path());
    constexpr size_t kFlushBytes = size_t{1} << 20;
    DurableFile target(file);
    Exported exported{file, static_cast<int64_t>(ranks.size()), 0};
    std::string text = header();
    const auto flush = [&] {
        target.write(text.data(), text.size());
        text.clear();
    };
    for_each_step(run, ranks, [&](int rank, const Timed<StepEvent>& step) {
        append_row(text, rank, step);
        ++exported.points;
        if (text.size() > kFlushBytes) flush();
    });
    flush();
    target.appear();
    return exported;
}

}  // namespace ringmaster
