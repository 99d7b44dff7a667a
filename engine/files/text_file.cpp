#include "engine/files/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "engine/error.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

/// Reads to the end or to the first read error. A stream iterator would throw at such an error.
std::string rest_of(std::ifstream& in) {
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

std::string read_file(const fs::path& file) {
    std::error_code problem;
    if (fs::is_directory(file, problem))
        throw Error(Failure::Usage, Code("FILE-MISSING"), "is a folder, not a file", file.string());
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw Error(Failure::Usage, Code("FILE-MISSING"),
                    std::string("cannot be read: ") + std::strerror(errno), file.string());
    return rest_of(in);
}

std::string readable_text(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return rest_of(in);
}

}  // namespace ringmaster
