/// Reads a part of an open file.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

namespace ringmaster {

/// Returns `bytes` from `offset` on, or fewer if the file ends or cannot be read there.
inline std::string read_at(int file, int64_t offset, int64_t bytes) {
    std::string text(static_cast<size_t>(bytes), '\0');
    size_t got = 0;
    while (got < text.size()) {
        const ssize_t n =
            ::pread(file, text.data() + got, text.size() - got, offset + static_cast<int64_t>(got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += static_cast<size_t>(n);
    }
    text.resize(got);
    return text;
}

}  // namespace ringmaster
