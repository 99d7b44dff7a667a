/// Tests that files whose reading fails are an error or an empty text, as the caller asks.
#include "engine/files/text_file.h"

#include <gmock/gmock.h>

#include "folder_fixture.h"

namespace ringmaster {
namespace {

class TextFile : public FolderFixture {};

TEST_F(TextFile, IsReadAsAWhole) {
    put(dir_ / "file", std::string("a\0b\n", 4));
    EXPECT_EQ(read_file(dir_ / "file"), std::string("a\0b\n", 4));
    EXPECT_EQ(readable_text(dir_ / "file"), std::string("a\0b\n", 4));
}

TEST_F(TextFile, ThatCannotBeReadIsEmptyOrAnError) {
    // The system opens a folder but does not read it, as with a file of a process that has just ended.
    for (const auto& path : {dir_, dir_ / "missing"}) {
        EXPECT_EQ(readable_text(path), "");
        try {
            read_file(path);
            FAIL() << path << " was read";
        } catch (const Error& error) {
            EXPECT_EQ(error.code, "FILE-MISSING");
            EXPECT_EQ(error.where, path.string());
        }
    }
}

}  // namespace
}  // namespace ringmaster
