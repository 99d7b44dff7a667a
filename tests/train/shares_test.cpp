// Compares the expected sums of a step's shares with sums counted cell by cell.
#include "engine/train/shares.h"

#include <gtest/gtest.h>

#include "engine/train/program_fault.h"

namespace ringmaster {
namespace {

/// Returns packed rows of documents with these lengths.
std::vector<Row> rows_of_documents(const std::vector<std::vector<int64_t>>& rows) {
    static const std::vector<int32_t> ids(1000, 1);
    std::vector<Row> made;
    for (const std::vector<int64_t>& lengths : rows) {
        Row row;
        int64_t end = 0;
        for (const int64_t length : lengths) row.document_ends.push_back(end += length);
        row.input_ids = std::span(ids).first(static_cast<size_t>(end));
        row.labels = row.input_ids;
        made.push_back(row);
    }
    return made;
}

Shares counted(const std::vector<int64_t>& documents, int64_t window) {
    Shares shares;
    for (const int64_t tokens : documents) {
        for (int64_t query = 0; query < tokens; ++query) {
            shares.expected_positions += query;
            for (int64_t key = 0; key <= query; ++key) shares.expected_cells += query - key < window;
        }
    }
    return shares;
}

void expect_alike(const Shares& a, const Shares& b) {
    EXPECT_EQ(a.expected_positions, b.expected_positions);
    EXPECT_EQ(a.expected_cells, b.expected_cells);
}

Shares expected(const std::vector<std::vector<int64_t>>& rows, const std::vector<int64_t>& windows,
                bool joined, int64_t unpadded, int64_t tokens, const std::vector<int64_t>& shared = {}) {
    ModelConfig model;
    model.num_layers = static_cast<int64_t>(windows.size());
    for (const int64_t window : windows)
        model.layers.push_back({window > 0 ? std::optional(window) : std::nullopt, 0});
    Shares shares;
    put_expected(shares, rows_of_documents(rows), model, joined, shared, unpadded, tokens);
    return shares;
}

TEST(Shares, ExpectWhatCountingCellsGives) {
    for (const int64_t window : {1, 2, 7, 12, 23, 100}) {
        Shares packed = counted({3, 12, 1, 20}, window);
        packed.expected_positions += 66;  // 12 padding tokens, which see nothing
        expect_alike(expected({{3, 12, 1}, {20}}, {window}, true, 48, 48), packed);
        expect_alike(expected({{3}, {20}}, {window}, false, 24, 24), counted({24}, window));
    }
}

TEST(Shares, CountEachWindowOfAModelOnce) {
    Shares both = counted({5, 6}, 4);
    both.expected_cells += counted({5, 6}, 100).expected_cells;
    expect_alike(expected({{5, 6}}, {4, 0, 4, 0}, true, 11, 11), both);
}

TEST(Shares, LeaveOutTokensThatAnotherDocumentHolds) {
    for (const int64_t window : {3, 100}) {
        Shares left = counted({3, 12, 20}, window);
        const Shares prompt = counted({7}, window);
        left.expected_positions -= prompt.expected_positions;
        left.expected_cells -= prompt.expected_cells;
        left.expected_positions += 1;  // 2 padding tokens
        expect_alike(expected({{3, 12}, {20}}, {window}, true, 28, 30, {0, 0, 7}), left);
    }
}

TEST(Shares, PaddingHasNoWindowThatNoRowNeeds) {
    expect_alike(expected({{10}}, {10}, false, 10, 12), counted({12}, 100));
    expect_alike(expected({{10}}, {9}, false, 10, 12), counted({12}, 9));
}

TEST(Shares, LabelsWeighOneTogether) {
    double sums[kShareNumbers] = {4, 0, 0, 0, 0, 0, 1};
    EXPECT_NO_THROW(check_shares(sums, 4));
    sums[6] = 0.75;
    EXPECT_THROW(check_shares(sums, 4), ProgramFault);
    sums[0] = 0;
    EXPECT_NO_THROW(check_shares(sums, 0));
}

}  // namespace
}  // namespace ringmaster
