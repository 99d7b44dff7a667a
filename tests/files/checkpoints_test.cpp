#include "engine/files/checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/files/safetensors.h"
#include "tests/files/folder_fixture.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Checkpoints : public FolderFixture {
  protected:
    fs::path path(int64_t step) const { return dir_ / checkpoint_name(step); }

    /// Writes a complete checkpoint. If `listed` is false, writes it as the previous version did.
    fs::path save(int64_t step, bool listed = true) const {
        FolderAside aside(path(step));
        std::vector<WrittenFile> files;
        for (const char* name : {"model.safetensors", kOptimizerFile}) {
            SafetensorsWriter writer(aside.path() / name, {{"a", "F32", {100}}});
            const std::vector<float> values(100, static_cast<float>(step));
            writer.write(values.data(), 400);
            files.push_back(writer.finish());
        }
        files.push_back(write_file_durably(aside.path() / kTrainerStateFile, "{}"));
        write_file_durably(aside.path() / kCompleteFile, listed ? complete_text(files) : "");
        aside.appear();
        return path(step);
    }
    void truncate(const fs::path& file) const { fs::resize_file(file, fs::file_size(file) - 1); }
    void flip(const fs::path& file) const {
        std::string bytes = content(file);
        bytes.back() = static_cast<char>(bytes.back() ^ 1);
        put(file, bytes);
    }
};

TEST_F(Checkpoints, ANameIsAStepAndBack) {
    EXPECT_EQ(checkpoint_name(100), "step-00000100");
    EXPECT_EQ(step_of_checkpoint("step-00000100"), 100);
    EXPECT_EQ(step_of_checkpoint("step-123456789"), 123456789);
    for (const char* name :
         {"step--2147483648", "step-", "step-1", "step-x", "step-00000100.abandoned-by-attempt-2",
          ".step-00000100", "step--0000001", "step-99999999999999999999"})
        EXPECT_FALSE(step_of_checkpoint(name)) << name;
}

TEST_F(Checkpoints, TheNewestWholeOneIsTaken) {
    EXPECT_FALSE(choose_checkpoint(dir_, {}).step);
    for (const int64_t step : {2, 4, 6}) save(step);
    const CheckpointChoice choice = choose_checkpoint(dir_, {});
    EXPECT_EQ(choice.step, 6);
    EXPECT_THAT(choice.passed_over, IsEmpty());
    EXPECT_EQ(choose_checkpoint(dir_, 2).step, 2);
}

TEST_F(Checkpoints, EveryDamageIsSeenAndNamed) {
    const std::vector<std::pair<std::function<void(const fs::path&)>, std::string>> damages = {
        {[&](const fs::path& at) { truncate(at / kOptimizerFile); }, "optimizer.safetensors has"},
        {[&](const fs::path& at) { flip(at / "model.safetensors"); },
         "model.safetensors has another content"},
        {[&](const fs::path& at) { flip(at / kTrainerStateFile); }, "trainer_state.json has another content"},
        {[&](const fs::path& at) { fs::remove(at / kOptimizerFile); }, "optimizer.safetensors is missing"},
        {[&](const fs::path& at) { fs::remove(at / kCompleteFile); }, "was not saved to its end"},
        {[&](const fs::path& at) {
             truncate(at / kCompleteFile);
             truncate(at / kCompleteFile);
         },
         "list of files"},
        {[&](const fs::path& at) {
             put(at / kCompleteFile, R"({"files":[{"name":"../x","bytes":1,"crc32c":"00000000"}]})");
         },
         "not a name"},
        {[&](const fs::path& at) { put(at / kCompleteFile, std::string(5 << 20, '[')); }, "too long"},
        {[&](const fs::path& at) { put(at / kCompleteFile, std::string(1 << 20, '[')); }, "too deeply"},
    };
    save(4);
    for (const auto& [damage, words] : damages) {
        damage(save(6));
        const CheckpointChoice choice = choose_checkpoint(dir_, {});
        EXPECT_EQ(choice.step, 4) << words;
        ASSERT_EQ(choice.passed_over.size(), 1U) << words;
        EXPECT_THAT(words_of(choice)[0], AllOf(HasSubstr("step 6"), HasSubstr(words)));
    }
}

TEST_F(Checkpoints, OneThatIsAskedForAndDamagedIsAnErrorThatNamesTheNewestWholeOne) {
    for (const int64_t step : {2, 4, 6}) save(step);
    flip(path(6) / kOptimizerFile);
    truncate(path(4) / "model.safetensors");
    EXPECT_THAT(refusal([&] { choose_checkpoint(dir_, 6); }),
                AllOf(HasSubstr("step 6 is damaged: optimizer.safetensors"),
                      HasSubstr("newest whole one is of step 2")));
    EXPECT_THAT(refusal([&] { choose_checkpoint(dir_, 5); }), HasSubstr("complete ones of step 2, 6"));
}

TEST_F(Checkpoints, AFormerVersionsIsTakenIfItsPartsAreThere) {
    save(2, false);
    save(4, false);
    EXPECT_EQ(choose_checkpoint(dir_, {}).step, 4);
    truncate(path(4) / "model.safetensors");
    EXPECT_EQ(choose_checkpoint(dir_, {}).step, 2);
    fs::remove(path(2) / kOptimizerFile);  // a kill during a re-save leaves this state
    const CheckpointChoice choice = choose_checkpoint(dir_, {});
    EXPECT_FALSE(choice.step);
    ASSERT_EQ(choice.passed_over.size(), 2U);
    EXPECT_EQ(choice.passed_over[1].why, "optimizer.safetensors is missing");
}

TEST_F(Checkpoints, ListsHoldTheOnesWhoseFilesHaveTheirSizes) {
    for (const int64_t step : {2, 4, 6, 100}) save(step);
    truncate(path(4) / kTrainerStateFile);
    EXPECT_THAT(complete_checkpoints(dir_), ElementsAre(2, 6, 100));
}

TEST_F(Checkpoints, LaterOnesAreSetAsideUnderANameThatSaysSo) {
    for (const int64_t step : {2, 4, 6}) save(step);
    EXPECT_THAT(abandon_later(dir_, 2, 3),
                ElementsAre("step-00000004.abandoned-by-attempt-3", "step-00000006.abandoned-by-attempt-3"));
    EXPECT_EQ(choose_checkpoint(dir_, {}).step, 2);
    save(4);
    EXPECT_THAT(abandon_later(dir_, 2, 3), ElementsAre("step-00000004.abandoned-by-attempt-3-2"));
    EXPECT_THAT(abandon_later(dir_, {}, 4), ElementsAre("step-00000002.abandoned-by-attempt-4"));
    EXPECT_FALSE(choose_checkpoint(dir_, {}).step);
    EXPECT_THAT(abandon_later(dir_ / "missing", {}, 1), IsEmpty());
}

TEST_F(Checkpoints, ReadingCanBeCancelled) {
    save(2);
    EXPECT_THROW(choose_checkpoint(dir_, {}, [] { throw std::runtime_error("cancelled"); }),
                 std::runtime_error);
}

}  // namespace
}  // namespace ringmaster
