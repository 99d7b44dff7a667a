/// Tests reading small files. If a file cannot be read, read_file() throws and readable_text() returns an
/// empty text.
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
    // A folder can be opened but not read. A /proc file of a process that has just ended fails in the same
    // way.
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
