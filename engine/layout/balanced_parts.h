/// Defines the parts of documents that the layout `balanced` assigns to ranks. Only that layout uses this
/// file.
#pragma once

#include <utility>
#include <vector>

#include "engine/layout/attention_mask.h"
#include "engine/layout/slices.h"

namespace ringmaster {

/// A part of a document: positions [begin, end).
struct DocumentPart {
    int64_t begin = 0;
    int64_t end = 0;
    DocumentRange document;
    bool is_padding = false;

    int64_t size() const { return end - begin; }
    int64_t work(int64_t from, int64_t to, const AttentionMask& mask) const {
        return is_padding || from >= to
                   ? 0
                   : visible_cells(Piece{{from, to}, document, prompt_of(document, mask)}, mask);
    }
    bool operator<(const DocumentPart& other) const {  // ordered by the work of the last token
        return std::pair(end - document.begin, begin) <
               std::pair(other.end - other.document.begin, other.begin);
    }
};

/// Returns the smallest number in [0, limit] for which `enough` is true, or limit if there is none.
template <typename Enough>
int64_t least(int64_t limit, Enough enough) {
    int64_t low = 0, high = limit;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (enough(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

Spans spans_of_parts(std::vector<DocumentPart> parts);

/// Returns how many keys of other ranks a rank with these parts reads.
int64_t received_keys(const std::vector<DocumentPart>& parts, const AttentionMask& mask);

}  // namespace ringmaster
