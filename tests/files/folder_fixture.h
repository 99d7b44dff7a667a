/// Provides a temporary folder for a test, and helpers that read and write in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "engine/error.h"

namespace ringmaster {

class FolderFixture : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        dir_ =
            std::filesystem::temp_directory_path() / ("files-" + std::to_string(::getpid()) + test->name());
        std::filesystem::create_directories(dir_);
    }
    void TearDown() override { std::filesystem::remove_all(dir_); }

    static std::string content(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static void put(const std::filesystem::path& path, const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    static mode_t mode(const std::filesystem::path& path) {
        struct stat about {};
        ::stat(path.c_str(), &about);
        return about.st_mode & 07777;
    }
    std::filesystem::path folder(const std::string& name) const {
        std::filesystem::create_directories(dir_ / name);
        return dir_ / name;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(dir_))
            found.push_back(entry.path().filename());
        std::sort(found.begin(), found.end());
        return found;
    }
    /// Returns the text of the Error that `work` throws, or an empty text if it throws none.
    static std::string refusal(const std::function<void()>& work) {
        try {
            work();
        } catch (const Error& error) {
            return error.text();
        }
        return "";
    }

    std::filesystem::path dir_;
};

}  // namespace ringmaster
