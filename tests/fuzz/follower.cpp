// Fuzzes following a run of four ranks to its end: the text before the first line "0" is run.json, the rest
// is what every rank wrote.
#include "launcher/history/figures.h"

#include "engine/error.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    static const fuzz::InputFolder folder;
    std::string_view text = fuzz::text_of(data, size);
    const size_t end = std::min(text.find("\n0\n"), text.size());
    folder.write("run.json", text.substr(0, end));
    text.remove_prefix(std::min(end + 3, text.size()));
    for (int rank = 0; rank < 4; ++rank)
        folder.write(std::filesystem::path("events") / event_file_name(rank), text);
    try {
        RunHistory history(RunDirectory{folder.path()});
        while (!history.poll().empty()) {
        }
        headline(history, 1000);
        headline(history, std::nullopt);
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
