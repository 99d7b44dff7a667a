#include "engine/files/durable.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>

#include "engine/error.h"
#include "engine/files/crc32c.h"
#include "tests/files/folder_fixture.h"

static bool folders_fail_to_flush = false;
static int calls_until_killed = 0;  ///< the process ends at this call, counted from 1; 0: never

static void count_call() {
    if (calls_until_killed > 0 && --calls_until_killed == 0) ::_exit(9);
}

/// Stands in for the C library's fsync, which durable.cpp calls.
extern "C" int fsync(int file) {
    count_call();
    struct stat about {};
    if (folders_fail_to_flush && ::fstat(file, &about) == 0 && S_ISDIR(about.st_mode)) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fsync, file));
}

/// These stand in for functions of the C library, which durable.cpp and std::filesystem call.
extern "C" int rename(const char* from, const char* to) noexcept {
    count_call();
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" int unlinkat(int folder, const char* path, int flags) noexcept {
    count_call();
    return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Durable = FolderFixture;

TEST(Crc32c, IsTheStandardOneInBothForms) {
    EXPECT_EQ(crc32c(0, "123456789", 9), 0xe3069283U);  // RFC 3720's check value
    EXPECT_EQ(crc32c_by_table(0, "123456789", 9), 0xe3069283U);
    std::string bytes(100'003, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13);
    for (const size_t size : {0UL, 1UL, 7UL, 8UL, 12'287UL, 12'288UL, 12'289UL, 100'000UL}) {
        const uint32_t sum = crc32c(0, bytes.data() + 3, size);
        EXPECT_EQ(sum, crc32c_by_table(0, bytes.data() + 3, size)) << size;
        EXPECT_EQ(
            sum, crc32c(crc32c(0, bytes.data() + 3, size / 3), bytes.data() + 3 + size / 3, size - size / 3));
    }
}

TEST_F(Durable, AFileIsWholeAndItsSumIsThatOfItsBytes) {
    const WrittenFile written = write_file_durably(dir_ / "a", "123456789");
    EXPECT_EQ(content(dir_ / "a"), "123456789");
    EXPECT_EQ(written.name, "a");
    EXPECT_EQ(written.bytes, 9);
    EXPECT_EQ(written.crc32c, 0xe3069283U);
    EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(Durable, TheReasonIsTheSystemsOfTheCallThatFailed) {
    fs::create_directories(dir_ / "folder/inside");
    errno = ENOSPC;  // left by an earlier call
    EXPECT_THAT(refusal([&] { write_file_durably(dir_ / "folder", "text"); }),
                AllOf(HasSubstr("Is a directory"), Not(HasSubstr("No space left"))));
    EXPECT_EQ(names(), std::vector<std::string>{"folder"});
    EXPECT_THAT(refusal([&] { write_file_durably(dir_ / "missing/a", "text"); }), HasSubstr("No such file"));
    ::mkfifo((dir_ / "pipe").c_str(), 0600);
    EXPECT_THAT(refusal([&] { write_file_durably(dir_ / "pipe", "text"); }), HasSubstr("not a regular file"));
}

TEST_F(Durable, AFileThatIsTooLongLeavesTheOldOne) {
    write_file_durably(dir_ / "a", "old");
    const auto former = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{1000, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string why = refusal([&] { write_file_durably(dir_ / "a", std::string(5000, 'x')); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, former);
    EXPECT_THAT(why, HasSubstr("File too large"));
    EXPECT_EQ(content(dir_ / "a"), "old");
    EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(Durable, AFolderThatCannotBeFlushedIsAnErrorThoughTheNewContentIsInPlace) {
    write_file_durably(dir_ / "a", "old");
    const auto fails = [&](const std::function<void()>& work) {
        folders_fail_to_flush = true;
        const std::string why = refusal(work);
        folders_fail_to_flush = false;
        return why;
    };
    EXPECT_THAT(fails([&] { write_file_durably(dir_ / "a", "new"); }), HasSubstr("Input/output error"));
    EXPECT_EQ(content(dir_ / "a"), "new");
    EXPECT_THAT(fails([&] { rename_durably(dir_ / "a", dir_ / "b"); }), HasSubstr("Input/output error"));
    EXPECT_THAT(fails([&] { remove_durably(dir_ / "b"); }), HasSubstr("Input/output error"));
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Durable, TheModeOfTheFileThatIsReplacedStays) {
    write_file_durably(dir_ / "secret", "old", 0600);
    EXPECT_EQ(mode(dir_ / "secret"), 0600U);
    write_file_durably(dir_ / "secret", "new");
    EXPECT_EQ(mode(dir_ / "secret"), 0600U);
    EXPECT_EQ(content(dir_ / "secret"), "new");
}

TEST_F(Durable, ThreadsThatWriteTheSameFileNeverTearIt) {
    const std::string a(300'000, 'a'), b(200'000, 'b');
    write_file_durably(dir_ / "shared", a);
    std::vector<std::thread> threads;
    for (const std::string* text : {&a, &b, &a, &b}) {
        threads.emplace_back([&, text] {
            for (int i = 0; i < 10; ++i) {
                write_file_durably(dir_ / "shared", *text);
                const std::string now = content(dir_ / "shared");
                EXPECT_TRUE(now == a || now == b) << now.size();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(names(), std::vector<std::string>{"shared"});
}

TEST_F(Durable, AFolderAppearsWholeAndReplacesTheFormer) {
    for (const char* text : {"old", "new"}) {
        FolderAside aside(dir_ / "step");
        write_file_durably(aside.path() / "a", text);
        EXPECT_EQ(content(dir_ / "step/a"), std::string(text) == "old" ? "" : "old");
        aside.appear();
        EXPECT_EQ(content(dir_ / "step/a"), text);
    }
    { const FolderAside given_up(dir_ / "step"); }
    EXPECT_EQ(names(), std::vector<std::string>{"step"});
}

/// Starts a process that replaces a folder of two files with a newer one, and ends just before it changes the
/// disk for the `killed_at`-th time. Returns its exit status: 9 if it ended early, 0 if it finished.
int status_of_a_replacement(const fs::path& target, int killed_at) {
    const pid_t child = ::fork();
    if (child == 0) {
        FolderAside aside(target);
        for (const char* name : {"a", "b"}) write_file_durably(aside.path() / name, "new");
        calls_until_killed = killed_at;
        aside.appear();
        ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Durable, AFolderIsTheFormerOrTheNewOneWhereverAProcessThatReplacesItIsKilled) {
    const fs::path target = dir_ / "step";
    std::string found;
    int status = 9;
    for (int call = 1; status == 9; ++call) {
        fs::remove_all(target);
        for (const char* name : {"a", "b"}) write_file_durably(folder("step") / name, "old");
        status = status_of_a_replacement(target, call);
        restore_folders(dir_);
        const std::string a = content(target / "a"), b = content(target / "b");
        EXPECT_TRUE(a == b && (a == "old" || a == "new"))
            << "killed before call " << call << ": " << a << ", " << b;
        EXPECT_EQ(names(), std::vector<std::string>{"step"}) << call;
        found += a + " ";
    }
    EXPECT_EQ(status, 0);
    EXPECT_THAT(found, AllOf(HasSubstr("old old "), HasSubstr("new new ")));
}

TEST_F(Durable, WhatAKilledProcessLeftIsPutRight) {
    write_file_durably(folder(".gone.former") / "a", "the only one");
    write_file_durably(folder(".kept.former") / "a", "old");
    write_file_durably(folder("kept") / "a", "new");
    folder(".half.partial");
    folder(".pruned.removed");
    folder(".other");
    restore_folders(dir_);
    EXPECT_EQ(names(), (std::vector<std::string>{".other", "gone", "kept"}));
    EXPECT_EQ(content(dir_ / "gone/a"), "the only one");
    EXPECT_EQ(content(dir_ / "kept/a"), "new");
    restore_folders(dir_ / "missing");
}

TEST_F(Durable, ARemovedFolderIsGone) {
    write_file_durably(folder("step") / "a", "x");
    remove_folder(dir_ / "step");
    EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace ringmaster
