#include "engine/train/shares.h"

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
    return *this;
}

Shares Shares::times(int64_t sequences) const {
    return {labels * sequences,         positions * sequences,
            cells * sequences,          expected_positions * sequences,
            expected_cells * sequences, filling};
}

/// 0 + 1 + … within each document, and over the padding.
int64_t expected_positions(const AttentionMask& mask, int64_t tokens) {
    int64_t sum = 0, begin = 0;
    for (const int64_t end : mask.documents) {
        sum += (end - begin) * (end - begin - 1) / 2;
        begin = end;
    }
    return sum + (tokens - begin) * (tokens - begin - 1) / 2;
}

int64_t expected_cells(const AttentionMask& mask, int64_t tokens) {
    return visible_cells(Spans{{0, tokens, 1}}, mask);
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
}

void check_shares(const double* summed, int64_t labels) {
    const auto refuse = [](const std::string& what, double held, double expected) {
        throw ProgramFault("the ranks' shares do not add up: " + std::to_string(static_cast<int64_t>(held)) +
                           " " + what + " instead of " + std::to_string(static_cast<int64_t>(expected)));
    };
    if (summed[0] != static_cast<double>(labels))
        refuse("valid labels", summed[0], static_cast<double>(labels));
    if (summed[5] != 0) refuse("labels or losses of rows that only fill a round up", summed[5], 0);
    if (summed[1] != summed[3]) refuse("as the sum of position ids", summed[1], summed[3]);
    if (summed[2] != summed[4]) refuse("cells of the attention mask", summed[2], summed[4]);
}

}  // namespace ringmaster
