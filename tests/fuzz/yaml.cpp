// Fuzzes the reader of YAML files, which returns values with line numbers, and the reader of single values
// from --set.
#include "engine/config/document.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const std::string_view text = fuzz::text_of(data, size);
    Diagnostics diagnostics;
    Document document;
    const bool readable = read_document(text, document, diagnostics);
    fuzz::require(readable || has_error(diagnostics));
    for (const auto& [path, line] : document.lines) fuzz::require(line > 0);

    const size_t line_end = text.find('\n');
    if (!readable || line_end == std::string_view::npos) return 0;
    Diagnostics of_set;
    set_path(document, std::string(text.substr(0, line_end)), std::string(text.substr(line_end + 1)), of_set);
    return 0;
}
