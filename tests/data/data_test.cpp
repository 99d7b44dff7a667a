#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <set>

#include "engine/data/batch.h"
#include "engine/data/sampler.h"
#include "engine/data/tokens.h"
#include "engine/error.h"

namespace ringmaster {
namespace {

using ::testing::ElementsAre;

/// Writes a token file of the given rows. Each token's label is its id; a negative id stands for a token
/// without a label.
class TokensOnDisk {
  public:
    explicit TokensOnDisk(const std::vector<std::vector<int32_t>>& rows) : TokensOnDisk(rows, {}) {}
    /// Writes a packed file. `documents` holds the position of each document's first token among all tokens,
    /// and then the number of tokens.
    TokensOnDisk(const std::vector<std::vector<int32_t>>& rows, const std::vector<int64_t>& documents) {
        std::vector<int32_t> ids, labels;
        std::vector<int64_t> offsets = {0};
        for (const auto& row : rows) {
            for (int32_t id : row) {
                ids.push_back(std::abs(id));
                labels.push_back(id < 0 ? kNoLabel : id);
            }
            offsets.push_back(static_cast<int64_t>(ids.size()));
        }
        const auto count = static_cast<int64_t>(ids.size());
        std::vector<TensorInfo> tensors = {{"input_ids", "I32", {count}},
                                           {"labels", "I32", {count}},
                                           {"row_offsets", "I64", {static_cast<int64_t>(offsets.size())}}};
        if (!documents.empty())
            tensors.push_back({"document_offsets", "I64", {static_cast<int64_t>(documents.size())}});
        SafetensorsWriter writer(path_, tensors);
        writer.write(ids.data(), ids.size() * sizeof(int32_t));
        writer.write(labels.data(), labels.size() * sizeof(int32_t));
        writer.write(offsets.data(), offsets.size() * sizeof(int64_t));
        writer.write(documents.data(), documents.size() * sizeof(int64_t));
        writer.finish();
    }
    ~TokensOnDisk() { std::filesystem::remove(path_); }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                  ("tokens-" + std::to_string(::getpid()) + "-" +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

Layout halves(int64_t tokens) {
    return {tokens, {{{0, tokens / 2, 1}}, {{tokens / 2, tokens, 1}}}};
}

TEST(Batch, LabelsAreShiftedBeforeTheCutSoThatNoneIsLostAtAShardsEdge) {
    TokensOnDisk disk({{1, 2, 3, 4, 5, 6, 7, 8}});
    TokenFile file(disk.path());
    const BatchShard first = shard_rows(rows_of(file, {0}), halves(8), 0);
    const BatchShard second = shard_rows(rows_of(file, {0}), halves(8), 1);
    EXPECT_THAT(first.input_ids, ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(first.labels, ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(second.labels, ElementsAre(6, 7, 8, kNoLabel));
    EXPECT_EQ(first.valid_labels + second.valid_labels, file.row(0).valid_labels());
}

TEST(Batch, PaddingHasNoLabelsAndMaskedTokensHaveNone) {
    TokensOnDisk disk({{1, -2, 3}, {4, 5, 6, 7, -8}});
    TokenFile file(disk.path());
    const BatchShard second = shard_rows(rows_of(file, {0, 1}), halves(8), 1);
    EXPECT_EQ(second.rows, 2);
    EXPECT_THAT(second.labels, ElementsAre(-100, -100, -100, -100, -100, -100, -100, -100));
    EXPECT_EQ(second.valid_labels, 0) << "a rank without any valid label is fine";
    const BatchShard first = shard_rows(rows_of(file, {0, 1}), halves(8), 0);
    EXPECT_THAT(first.labels, ElementsAre(-100, 3, -100, -100, 5, 6, 7, -100));
    const RowCounts counts = count_rows(rows_of(file, {0, 1}));
    EXPECT_EQ(counts.tokens, 8);
    EXPECT_EQ(counts.valid_labels, 4);
    EXPECT_EQ(first.valid_labels, counts.valid_labels);
}

TEST(Batch, EachTokenKnowsItsPlaceInTheFileHoweverItIsCut) {
    TokensOnDisk disk({{1, 2, 3}, {4, 5, 6, 7, 8}, {9, 10}}, {0, 3, 5, 8, 10});
    TokenFile file(disk.path());
    EXPECT_THAT(shard_rows(rows_of(file, {2, 1}), halves(8), 0).places,
                ElementsAre(8, 9, -1, -1, 3, 4, 5, 6));
    EXPECT_THAT(shard_rows(rows_of(file, {2, 1}), halves(8), 1, true).places, ElementsAre(5, 6, 7, -1));
    const std::vector<Row> documents = file.row(1).documents();
    EXPECT_EQ(documents[1].place, 5);
    EXPECT_EQ(documents[1].head(2).place, 5);
}

TEST(Batch, LengthIsTheLongestRowOrWhatIsFixed) {
    TokensOnDisk disk({{1, 2, 3}, {4, 5, 6, 7, 8}});
    TokenFile file(disk.path());
    EXPECT_EQ(batch_length(rows_of(file, {0, 1}), {}, 64), 5);
    EXPECT_EQ(batch_length(rows_of(file, {0}), {true, std::nullopt}, 64), 64);
    EXPECT_EQ(batch_length(rows_of(file, {0}), {false, 16}, 64), 16);
}

TEST(Packing, TheFirstTokenOfADocumentIsNoLabel) {
    TokensOnDisk disk({{1, 2, 3, 4, 5}, {6, 7, 8}}, {0, 2, 5, 6, 8});
    TokenFile file(disk.path());
    EXPECT_THAT(file.row(0).document_ends, ElementsAre(2, 5));
    EXPECT_THAT(file.row(1).document_ends, ElementsAre(1, 3));
    EXPECT_EQ(file.row(0).valid_labels(), 3);
    EXPECT_EQ(count_rows(rows_of(file, {0, 1})).valid_labels, 4);
    const BatchShard row = shard_rows(rows_of(file, {0}), {8, {{{0, 8, 1}}}}, 0, true);
    EXPECT_THAT(row.labels, ElementsAre(2, -100, 4, 5, -100, -100, -100, -100));
    EXPECT_EQ(row.valid_labels, 3);
}

TEST(Packing, TheRowsOfAMicroBatchAreOneSequenceOfAllTheirDocuments) {
    TokensOnDisk disk({{1, 2, 3, 4, 5}, {6, 7, 8}}, {0, 2, 5, 6, 8});
    TokenFile file(disk.path());
    Config config;
    config.sample_packing = true;
    config.sequence_len = 6;
    BatchShape shape = batch_shape(rows_of(file, {0, 1}), config, 2, false);
    EXPECT_EQ(shape.tokens, 8) << "rows are not padded";
    EXPECT_THAT(shape.mask.documents, ElementsAre(2, 5, 6, 8));
    EXPECT_EQ(shape.longest_document, 3);
    EXPECT_EQ(shape.mask.window, 2);
    config.padding.to_sequence_len = true;
    shape = batch_shape(rows_of(file, {0, 1}), config, 3, false);
    EXPECT_EQ(shape.tokens, 12);
    EXPECT_EQ(shape.mask.window, 0) << "no document is longer";
    const Layout layout = halves(12);
    const BatchShard first = shard_rows(rows_of(file, {0, 1}), layout, 0, true),
                     second = shard_rows(rows_of(file, {0, 1}), layout, 1, true);
    EXPECT_EQ(first.rows, 1);
    EXPECT_THAT(first.input_ids, ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(first.labels, ElementsAre(2, -100, 4, 5, -100, -100));
    EXPECT_THAT(second.input_ids, ElementsAre(7, 8, 0, 0, 0, 0));
    EXPECT_THAT(second.labels, ElementsAre(8, -100, -100, -100, -100, -100));
}

/// Holds the ids and labels of documents: a prompt without labels, then an answer with them.
struct Answers {
    std::vector<std::vector<int32_t>> ids, labels;

    void add(const std::vector<int32_t>& prompt, const std::vector<int32_t>& answer) {
        ids.push_back(prompt);
        ids.back().insert(ids.back().end(), answer.begin(), answer.end());
        labels.emplace_back(prompt.size(), kNoLabel);
        labels.back().insert(labels.back().end(), answer.begin(), answer.end());
    }
    std::vector<Row> rows(int64_t label_shift = 1) const {
        std::vector<Row> made;
        int64_t place = 0;
        for (size_t i = 0; i < ids.size(); ++i) {
            const auto tokens = static_cast<int64_t>(ids[i].size());
            made.push_back({ids[i], labels[i], {tokens}, place, label_shift});
            place += tokens;
        }
        return made;
    }
};

TEST(SharedPrompts, ComeOnceAndTheirLastTokenStaysWithEachAnswer) {
    Answers answers;
    answers.add({1, 2, 3}, {10, 11});
    answers.add({4, 5}, {20});
    answers.add({1, 2, 3}, {30});
    const std::vector<Row> rows = answers.rows();
    const BatchShape shape = batch_shape(rows, Config{}, {}, true);
    EXPECT_EQ(shape.tokens, 10) << "12 without the two shared ones";
    EXPECT_EQ(shape.padded_row, 5);
    EXPECT_EQ(shape.longest_document, 5);
    EXPECT_THAT(shape.mask.documents, ElementsAre(2, 5, 7, 10));
    EXPECT_THAT(shape.mask.continues, ElementsAre(-1, 0, 0, -1));
    EXPECT_THAT(shape.prompts.shared, ElementsAre(0, 0, 2));
    EXPECT_EQ(shape.prompts.place_of(2, 1), 1);
    EXPECT_EQ(shape.prompts.place_of(2, 2), 5);
    EXPECT_EQ(shape.prompts.place_of(0, 4), 4);
    const BatchShard all = shard_rows(rows, {10, {{{0, 10, 1}}}}, 0, true, Segments::Labels, shape.prompts);
    EXPECT_EQ(all.rows, 1);
    EXPECT_THAT(all.input_ids, ElementsAre(1, 2, 3, 10, 11, 3, 30, 4, 5, 20));
    EXPECT_THAT(all.labels, ElementsAre(-100, -100, 10, 11, -100, 30, -100, -100, 20, -100));
    EXPECT_THAT(all.segments, ElementsAre(-1, -1, 0, 2, -1, 6, -1, -1, 4, -1)) << "slots are labels";
    EXPECT_THAT(all.places, ElementsAre(0, 1, 2, 3, 4, 10, 11, 5, 6, 7));
    EXPECT_FALSE(batch_shape(rows, Config{}, {}, false).prompts.any());
}

TEST(SharedPrompts, OfAChosenAnswerThatLearnsItsPromptAreItsOwn) {
    Answers answers;
    for (const int32_t answer : {10, 20, 30, 40}) answers.add({1, 2, 3}, {answer});
    const std::vector<Row> rows = answers.rows();
    const SharedPrompts prompts = share_prompts(rows, true);
    EXPECT_THAT(prompts.shared, ElementsAre(0, 2, 0, 2));
    EXPECT_THAT(prompts.holder, ElementsAre(0, 0, 2, 2));
    const BatchShard all =
        shard_rows(rows, {12, {{{0, 12, 1}}}}, 0, true, Segments::ChosenPromptsToo, prompts);
    EXPECT_THAT(all.labels, ElementsAre(2, 3, 10, -100, 20, -100, 2, 3, 30, -100, 40, -100));
    EXPECT_THAT(all.segments, ElementsAre(1, 1, 0, -1, 2, -1, 5, 5, 4, -1, 6, -1));
}

TEST(SharedPrompts, OfScoresAreWhatAPairHasInCommon) {
    Answers answers;
    answers.add({1, 2, 3, 4}, {0});
    answers.add({1, 2, 5}, {0});
    answers.add({7, 8}, {0});
    answers.add({9, 8, 8}, {0});
    EXPECT_THAT(share_prompts(answers.rows(0), false).shared, ElementsAre(0, 2, 0, 0));
    EXPECT_FALSE(share_prompts(answers.rows(1), false).any()) << "prompts of different lengths";
}

TEST(Packing, DocumentsThatDoNotFitTheRowsAreRefused) {
    TokensOnDisk disk({{1, 2, 3}, {4, 5}}, {0, 2, 5});
    EXPECT_THROW(TokenFile file(disk.path()), Error) << "a document across two rows";
}

TEST(Tokens, WhatTheModelCannotReadIsNamedByRow) {
    TokensOnDisk disk({{1, 2}, {3, 9, 4}});
    TokenFile file(disk.path());
    EXPECT_NO_THROW(file.check(10, 10, 3));
    auto message = [&](int64_t vocab, int64_t longest, int64_t labels = 10) -> std::string {
        try {
            file.check(vocab, labels, longest);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message(9, 3), ::testing::HasSubstr("row 2 holds token 9"));
    EXPECT_THAT(message(10, 2), ::testing::HasSubstr("row 2 has 3 tokens"));
    EXPECT_THAT(message(10, 3, 2), ::testing::HasSubstr("row 1 holds label 2"));
}

TEST(Sampler, EachEpochHasEveryRowOnceAndEndsWithASmallerStep) {
    Sampler sampler(10, 4, 7, false);
    for (int epoch = 0; epoch < 3; ++epoch) {
        std::vector<int64_t> seen;
        for (size_t size : {4, 4, 2}) {
            const auto rows = sampler.next_step();
            EXPECT_EQ(rows.size(), size);
            seen.insert(seen.end(), rows.begin(), rows.end());
        }
        EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 10U);
        EXPECT_DOUBLE_EQ(sampler.epoch(), epoch + 1);
    }
}

TEST(Sampler, CurriculumKeepsFileOrderAndSeedsDiffer) {
    Sampler in_order(5, 5, 7, true), one(50, 50, 7, false), same(50, 50, 7, false), other(50, 50, 8, false);
    EXPECT_THAT(in_order.next_step(), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_TRUE(in_order.ends_epoch());
    EXPECT_THAT(in_order.next_step(), ElementsAre(0, 1, 2, 3, 4)) << "each epoch begins anew";
    Sampler by_twos(5, 2, 7, true);
    by_twos.seek(1);
    EXPECT_THAT(by_twos.next_step(), ElementsAre(1, 2));
    EXPECT_FALSE(by_twos.ends_epoch());
    EXPECT_THAT(by_twos.next_step(), ElementsAre(3, 4));
    const auto order = one.next_step();
    EXPECT_EQ(order, same.next_step());
    EXPECT_NE(order, other.next_step());
    EXPECT_NE(order, one.next_step()) << "the next epoch has an order of its own";
}

TEST(Sampler, GoesOnWhereItWasWhateverTheStepsSize) {
    Sampler whole(20, 4, 3, false), resumed(20, 8, 3, false);
    whole.next_step();
    resumed.seek(whole.consumed());
    auto expected = whole.next_step();
    const auto more = whole.next_step();
    expected.insert(expected.end(), more.begin(), more.end());
    EXPECT_EQ(resumed.next_step(), expected);
}

TEST(MicroBatches, GroupsTogetherReadEachRowOnce) {
    std::vector<int64_t> rows(11);
    std::iota(rows.begin(), rows.end(), 100);
    std::vector<int64_t> seen;
    for (int group = 0; group < 3; ++group) {
        for (const auto& batch : micro_batches_of(rows, 2, group, 3)) {
            EXPECT_LE(batch.size(), 2U);
            seen.insert(seen.end(), batch.begin(), batch.end());
        }
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, rows);
    EXPECT_TRUE(micro_batches_of({1, 2}, 2, 1, 3).empty())
        << "a group may have nothing to do in a smaller step";
}

}  // namespace
}  // namespace ringmaster
