#include "engine/train/shares.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "engine/train/program_fault.h"

namespace ringmaster {

Shares& Shares::operator+=(const Shares& other) {
    labels += other.labels;
    positions += other.positions;
    cells += other.cells;
    expected_positions += other.expected_positions;
    expected_cells += other.expected_cells;
    filling += other.filling;
    weight += other.weight;
    return *this;
}

Shares Shares::times(int64_t sequences) const {
    return {labels * sequences,
            positions * sequences,
            cells * sequences,
            expected_positions * sequences,
            expected_cells * sequences,
            filling,
            weight};
}

namespace {

/// Returns 0 + 1 + … + (tokens − 1).
int64_t sum_of_positions(int64_t tokens) {
    return tokens * (tokens - 1) / 2;
}

/// Returns how many mask cells a document has: for each token, the keys up to that token in its window. A
/// `window` of 0 means no window.
int64_t cells_of(int64_t tokens, int64_t window) {
    const int64_t reach = window == 0 ? tokens : std::min(window, tokens);
    return reach * (reach + 1) / 2 + (tokens - reach) * reach;
}

}  // namespace

void put_expected(Shares& shares, const std::vector<Row>& rows, const ModelConfig& model, bool joined,
                  const std::vector<int64_t>& shared, int64_t unpadded, int64_t tokens) {
    std::set<int64_t> windows;
    for (const LayerKind& kind : model.layer_kinds()) windows.insert(kind.window.value_or(0));
    const auto add_document = [&](int64_t length, int64_t longest, int64_t sign) {
        shares.expected_positions += sign * sum_of_positions(length);
        // A window that no document exceeds is not applied, so it cannot hide padding.
        for (const int64_t window : windows)
            shares.expected_cells += sign * cells_of(length, window < longest ? window : 0);
    };
    if (!joined) return add_document(tokens, unpadded, 1);
    int64_t padding = tokens;
    size_t index = 0;
    for (const Row& row : rows) {
        for (const Row& document : row.documents()) {
            const int64_t elsewhere = shared.empty() ? 0 : shared[index++];
            add_document(document.tokens(), document.tokens(), 1);
            add_document(elsewhere, elsewhere, -1);
            padding -= document.tokens() - elsewhere;
        }
    }
    shares.expected_positions += sum_of_positions(padding);
}

void put_shares(const Shares& shares, const Groups& groups, double* values) {
    const MeshCoordinates at = groups.mesh().coordinates(groups.rank());
    const bool first_of_heads = at.ulysses == 0, first_of_all = first_of_heads && at.ring == 0;
    values[0] = static_cast<double>(shares.labels);
    values[1] = static_cast<double>(shares.positions);
    values[2] = first_of_heads ? static_cast<double>(shares.cells) : 0;
    values[3] = first_of_all ? static_cast<double>(shares.expected_positions) : 0;
    values[4] = first_of_all ? static_cast<double>(shares.expected_cells) : 0;
    values[5] = static_cast<double>(shares.filling);
    values[6] = shares.weight;
}

void check_shares(const double* summed, int64_t labels) {
    const auto refuse = [](const std::string& what, double held, double expected) {
        throw ProgramFault("the ranks' shares do not add up: " + std::to_string(static_cast<int64_t>(held)) +
                           " " + what + " instead of " + std::to_string(static_cast<int64_t>(expected)));
    };
    if (summed[0] != static_cast<double>(labels))
        refuse("valid labels", summed[0], static_cast<double>(labels));
    if (summed[5] != 0) refuse("labels or losses of rows that only fill a round up", summed[5], 0);
    if (labels > 0 && std::abs(summed[6] - 1) > 1e-9)
        throw ProgramFault("the labels' weights in the loss add up to " + std::to_string(summed[6]) +
                           " instead of 1");
    if (summed[1] != summed[3]) refuse("as the sum of position ids", summed[1], summed[3]);
    if (summed[2] != summed[4]) refuse("cells of the attention mask", summed[2], summed[4]);
}

}  // namespace ringmaster
