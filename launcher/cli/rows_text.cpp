#include "launcher/cli/rows_text.h"

#include <algorithm>
#include <cmath>

#include "launcher/base/format.h"

namespace ringmaster {

using nlohmann::json;

namespace {

constexpr int kBins = 12;
constexpr int kBarWidth = 40;
constexpr int64_t kMostTokens = 4096;  ///< maximum number of a row's tokens that a terminal shows

/// Replaces bytes that are not UTF-8 by U+FFFD, for JSON.
std::string as_utf8(const std::string& bytes) {
    const std::string quoted = json(bytes).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

int64_t most_tokens(const RowsReport& report) {
    return std::max<int64_t>({1, report.prepared.plan.config.sequence_len, report.prepared.rows.longest});
}

json row_json(const RowsReport& report, int64_t index) {
    const ShownRow row = report.rows.row(index);
    const RowPlace place = report.placement.of(index);
    json parts = json::array();
    std::string text;
    for (const RowPart& part : row.parts) {
        parts.push_back({{"kind", to_string(part.kind)},
                         {"trained", part.trained},
                         {"text", as_utf8(part.text)},
                         {"ids", part.ids},
                         {"document", part.document}});
        text += part.text;
    }
    return {{"row", row.index + 1},       {"tokens", row.tokens},  {"trained", row.trained},
            {"documents", row.documents}, {"step", place.step},    {"micro_batch", place.micro_batch + 1},
            {"ranks", place.ranks},       {"text", as_utf8(text)}, {"parts", std::move(parts)}};
}

json lost_json(const RowsToShow& prepared) {
    const TokenizedRows& rows = prepared.rows;
    json examples = json::array();
    for (const LostRow& lost : prepared.lost)
        examples.push_back({{"place", lost.place}, {"tokens", lost.tokens}, {"why", lost.why}});
    return {{"long", rows.dropped_long},
            {"short", rows.dropped_short},
            {"cut", rows.truncated},
            {"examples", std::move(examples)}};
}

std::string bar_of(int64_t rows, int64_t most) {
    const int64_t length = rows * kBarWidth / std::max<int64_t>(1, most);
    return repeated("\u2588", static_cast<int>(rows > 0 ? std::max<int64_t>(1, length) : 0));
}

std::string histogram_text(const RowsReport& report) {
    const auto bins = report.rows.lengths(most_tokens(report), kBins);
    int64_t most = 0;
    for (const LengthBin& bin : bins) most = std::max(most, bin.rows);
    std::string text = "Tokens of a row:\n";
    for (const LengthBin& bin : bins)
        text += right_aligned(format_count(bin.to), 12) + right_aligned(format_count(bin.rows), 14) + "  " +
                bar_of(bin.rows, most) + "\n";
    return text;
}

std::string lost_text(const RowsToShow& prepared) {
    std::string text;
    for (const LostRow& lost : prepared.lost) {
        if (&lost - prepared.lost.data() == 5) return text + "    and more: --json lists a hundred\n";
        const char* became = lost.why == "cut"    ? "cut to sequence_len"
                             : lost.why == "long" ? "dropped: longer than sequence_len"
                                                  : "dropped: too short";
        text +=
            "    " + printable(lost.place) + ": " + format_count(lost.tokens) + " tokens, " + became + "\n";
    }
    return text;
}

std::string counted(int64_t count, const std::string& noun) {
    return format_count(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string head_text(const RowsReport& report) {
    const TokenizedRows& rows = report.prepared.rows;
    const int64_t tokens = rows.tokens_total, trained = report.rows.trained_tokens();
    std::string text = counted(report.rows.rows(), "row") + ", " + format_count(tokens) + " tokens, " +
                       format_count(trained) + " of them trained";
    if (tokens > 0) text += " (" + format_percent(double(trained) / double(tokens)) + ")";
    text += "; the longest has " + format_count(rows.longest) + " tokens, sequence_len is " +
            format_count(report.prepared.plan.config.sequence_len) + "\n";
    const std::string losses = describe_losses(rows);
    if (!losses.empty()) text += losses + "\n" + lost_text(report.prepared);
    const PromptSharing& sharing = report.prepared.plan.sharing;
    if (sharing.on && sharing.tokens)
        text += "answers of a row share their prompt: " + format_percent(1 - *sharing.tokens) +
                " of the tokens are not computed again\n";
    const RepeatedRows repeated = report.rows.duplicates();
    if (repeated.rows > 0)
        text += counted(repeated.rows, "row") + (repeated.rows == 1 ? " repeats" : " repeat") +
                " an earlier one; row " + format_count(repeated.examples.front().first + 1) + " is row " +
                format_count(repeated.examples.front().second + 1) + " again\n";
    if (!report.rows.text().known())
        text += "There is no tokenizer.json here: tokens are shown as numbers.\n";
    return text;
}

std::string ranks_text(const RowPlace& place) {
    return place.ranks.size() == 1
               ? "rank " + std::to_string(place.ranks.front())
               : "ranks " + std::to_string(place.ranks.front()) + " to " + std::to_string(place.ranks.back());
}

/// Returns the lines of a part, each with a mark that shows the part's kind even without colour.
std::string part_text(const RowPart& part, const Terminal& terminal) {
    const char* mark = part.kind == TokenKind::Special ? "* " : part.trained ? "+ " : "- ";
    std::string text, rest = as_utf8(part.text);
    while (!rest.empty()) {
        const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
        const std::string_view line(rest.data(), rest[end - 1] == '\n' ? end - 1 : end);
        const std::string shown = mark + printable(std::string(line));
        text += "    " +
                (part.kind == TokenKind::Special ? terminal.ink.yellow(shown)
                 : part.trained                  ? terminal.ink.green(shown)
                                                 : terminal.ink.dim(shown)) +
                "\n";
        rest.erase(0, end);
    }
    return text;
}

/// Names a pair's documents: the chosen answer comes first.
std::string answer_name(int64_t document) {
    return document % 2 == 0 ? "chosen:" : "rejected:";
}

std::string row_text(const RowsReport& report, int64_t index, const Terminal& terminal) {
    const ShownRow row = report.rows.row(index, kMostTokens);
    const RowPlace place = report.placement.of(index);
    std::string text = terminal.ink.bold("Row " + format_count(index + 1)) + ": " + format_count(row.tokens) +
                       " tokens, " + format_count(row.trained) + " trained";
    if (row.documents > 1) text += ", " + format_count(row.documents) + " documents";
    text += "; step " + format_count(place.step) + " on " + ranks_text(place) + "\n";
    const bool has_pairs = report.prepared.plan.config.preference.has_pairs();
    for (int64_t document = -1; const RowPart& part : row.parts) {
        if (has_pairs && part.document != document)
            text += "  " + terminal.ink.bold(answer_name(part.document)) + "\n";
        document = part.document;
        text += part_text(part, terminal);
    }
    if (row.tokens > kMostTokens)
        text += "    and " + format_count(row.tokens - kMostTokens) + " tokens more\n";
    return text;
}

}  // namespace

json rows_json(const RowsReport& report) {
    const TokenizedRows& rows = report.prepared.rows;
    json bins = json::array(), shown = json::array(), examples = json::array();
    for (const LengthBin& bin : report.rows.lengths(most_tokens(report), kBins))
        bins.push_back({{"from", bin.from + 1}, {"to", bin.to}, {"rows", bin.rows}});
    const PromptSharing& sharing = report.prepared.plan.sharing;
    const RepeatedRows repeated = report.rows.duplicates();
    for (const auto& [row, earlier] : repeated.examples)
        examples.push_back({{"row", row + 1}, {"earlier", earlier + 1}});
    for (const int64_t index : report.shown) shown.push_back(row_json(report, index));
    return {{"tokens", rows.data.tokens},
            {"rows", report.rows.rows()},
            {"eval_rows", rows.data.eval_rows},
            {"read", rows.read},
            {"kept", rows.kept},
            {"lost", lost_json(report.prepared)},
            {"tokens_total", rows.tokens_total},
            {"trained_total", report.rows.trained_tokens()},
            {"longest", rows.longest},
            {"sequence_len", report.prepared.plan.config.sequence_len},
            {"packing", rows.documents > 0
                            ? json{{"documents", rows.documents}, {"efficiency", rows.packing_efficiency}}
                            : json()},
            {"shared_prompts", sharing.on && sharing.tokens
                                   ? json{{"tokens", *sharing.tokens}, {"cells", sharing.cells.value_or(1)}}
                                   : json()},
            {"lengths", std::move(bins)},
            {"duplicates", {{"rows", repeated.rows}, {"examples", std::move(examples)}}},
            {"has_text", report.rows.text().known()},
            {"shown", std::move(shown)}};
}

std::string rows_text(const RowsReport& report, const Terminal& terminal) {
    std::string text = head_text(report) + "\n" + histogram_text(report) + "\n";
    if (report.searched)
        text += counted(static_cast<int64_t>(report.shown.size()), "row") +
                (report.shown.size() == 1 ? " holds \"" : " hold \"") + printable(*report.searched) +
                "\"\n\n";
    text += "+ trained   - read only   * special\n";
    for (const int64_t index : report.shown) text += row_text(report, index, terminal);
    return text;
}

}  // namespace ringmaster
