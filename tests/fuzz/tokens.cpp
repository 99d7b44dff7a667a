// Fuzzes the reader of token files: every accepted row lies inside the file, and the row's documents cover
// the row.
#include "engine/data/tokens.h"
#include "engine/error.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    static const fuzz::InputFile file;
    file.hold(data, size);
    try {
        const TokenFile tokens(file.path());
        for (int64_t index = 0; index < tokens.rows(); ++index) {
            const Row row = tokens.row(index);
            fuzz::require(row.document_ends.empty() ? row.tokens() == 0
                                                    : row.document_ends.back() == row.tokens());
            fuzz::require(row.valid_labels() <= row.tokens());
            row.documents();
            row.head(row.tokens() / 2);
        }
        tokens.check(1000, 1000, 64);
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
