// rows: shows what the model sees of a configuration's data, before anything is trained.
#include <algorithm>
#include <numeric>

#include "engine/error.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/look_commands.h"
#include "launcher/cli/rows_text.h"
#include "launcher/rows/row_search.h"

namespace ringmaster {

namespace {

constexpr int64_t kShown = 3;

std::vector<int64_t> rows_to_show(const Arguments& arguments, const PreparedRows& rows) {
    const int64_t count = arguments.whole("--n", 0).value_or(kShown);
    if (arguments.has("--search")) {
        const std::string words = arguments.text("--search");
        if (words.empty()) throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is empty", "--search");
        return find_rows(rows, words, static_cast<size_t>(count));
    }
    const int64_t first = arguments.whole("--from", 1).value_or(1) - 1;
    if (first >= rows.rows())
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"),
                    "is past the last row, which is " + std::to_string(rows.rows()), "--from");
    std::vector<int64_t> shown(static_cast<size_t>(std::min(count, rows.rows() - first)));
    std::iota(shown.begin(), shown.end(), first);
    return shown;
}

int run_rows(const Arguments& arguments, const CommandContext& session) {
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const RowsToShow prepared =
        prepare_rows(request_of(arguments), this_machine(), session.places, printer.progress());
    printer.clear();
    const PreparedRows rows(prepared.rows.data.tokens, prepared.text);
    const Placement placement(prepared.plan, rows.rows());
    RowsReport report{prepared, rows, placement, rows_to_show(arguments, rows), {}};
    if (arguments.has("--search")) report.searched = arguments.text("--search");
    if (session.json) {
        print_json(rows_json(report));
    } else {
        print(rows_text(report, session.out));
    }
    return report.searched && report.shown.empty() ? 1 : 0;
}

}  // namespace

Command rows_command() {
    CommandSpec spec{
        "rows",
        "CONFIG",
        true,
        "Tokenizes the data as a launch would and shows rows as the model sees them: which tokens are "
        "trained and which are only read, in which step and on which ranks; lengths, rows left out or cut, "
        "and repeated rows.",
        request_options(),
        "exit status: 0 rows are shown; 1 the data cannot be prepared, or no row holds the words; "
        "2 missing file, malformed YAML"};
    spec.options.push_back({"--n", "N", "show N rows (3)"});
    spec.options.push_back({"--from", "ROW", "begin with this row (1)"});
    spec.options.push_back(
        {"--search", "TEXT", "show only rows that hold TEXT; ASCII letters match in either case"});
    return {std::move(spec), run_rows};
}

}  // namespace ringmaster
