#include "engine/files/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "engine/error.h"
#include "engine/files/crc32c.h"
#include "engine/files/durable.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Safetensors : public ::testing::Test {
  protected:
    void SetUp() override {
        dir_ = fs::temp_directory_path() / ("safetensors-" + std::to_string(::getpid()) +
                                            ::testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::create_directories(dir_);
    }
    void TearDown() override { fs::remove_all(dir_); }

    fs::path write_two() {
        const std::vector<float> a = {1, 2, 3, 4, 5, 6};
        const std::vector<int64_t> b = {7, -8};
        SafetensorsWriter writer(dir_ / "two.safetensors", {{"a", "F32", {2, 3}}, {"b", "I64", {2}}});
        writer.write(a.data(), a.size() * sizeof(float));
        writer.write(b.data(), b.size() * sizeof(int64_t));
        writer.finish();
        return dir_ / "two.safetensors";
    }
    std::string content(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void put(const fs::path& path, const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
    }

    fs::path dir_;
};

TEST_F(Safetensors, ReadsWhatItWrote) {
    SafetensorsFile file(write_two());
    EXPECT_THAT(file.elements<float>("a", "F32"), ::testing::ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(file.elements<int64_t>("b", "I64"), ::testing::ElementsAre(7, -8));
    EXPECT_THAT(file.info("a").shape, ::testing::ElementsAre(2, 3));
    EXPECT_THROW(file.elements<float>("b", "F32"), Error);
    EXPECT_THROW(file.bytes("c"), Error);
}

TEST_F(Safetensors, ATruncatedFileIsNamedWithItsTensor) {
    const fs::path path = write_two();
    put(path, content(path).substr(0, content(path).size() - 9));
    try {
        SafetensorsFile file(path);
        FAIL() << "a truncated file was read";
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Refused);
        EXPECT_THAT(error.text(), HasSubstr("two.safetensors"));
        EXPECT_THAT(error.text(), HasSubstr("truncated"));
        EXPECT_THAT(error.text(), HasSubstr("'b'"));
    }
}

TEST_F(Safetensors, DamagedBytesAreAnErrorNeverACrash) {
    const std::string good = content(write_two());
    std::mt19937 random(5);
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        std::string bad = good;
        for (int flips = 0; flips < 4; ++flips) bad[random() % 160] = static_cast<char>(random());
        if (i % 3 == 0) bad.resize(random() % bad.size());
        put(dir_ / "bad", bad);
        try {
            SafetensorsFile file(dir_ / "bad");
            for (const auto& [name, info] : file.tensors())
                EXPECT_EQ(file.bytes(name).size(), static_cast<size_t>(info.bytes()));
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 1000);
}

TEST_F(Safetensors, AnUnfinishedFileIsRemoved) {
    { SafetensorsWriter writer(dir_ / "half", {{"a", "F32", {4}}}); }
    EXPECT_FALSE(fs::exists(dir_ / "half"));
}

TEST_F(Safetensors, AFileAppearsWhenItIsFinishedWithTheSumOfItsBytes) {
    const float value = 1;
    SafetensorsWriter writer(dir_ / "one", {{"a", "F32", {1}}});
    writer.write(&value, sizeof value);
    EXPECT_FALSE(fs::exists(dir_ / "one"));
    const WrittenFile written = writer.finish();
    const std::string bytes = content(dir_ / "one");
    EXPECT_EQ(written.bytes, static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(written.crc32c, crc32c(0, bytes.data(), bytes.size()));
}

}  // namespace
}  // namespace ringmaster
