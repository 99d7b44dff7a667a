#include "launcher/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace ringmaster {

namespace {

constexpr int kLeastWidth = 40;

/// A code point and the bytes it takes; a damaged byte counts as one.
struct CodePoint {
    uint32_t value;
    size_t bytes;
};

CodePoint code_point_at(const std::string& text, size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t bytes = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 1;
    if (bytes == 1 || at + bytes > text.size()) return {lead, 1};
    uint32_t value = lead & (0xffU >> (bytes + 1));
    for (size_t i = 1; i < bytes; ++i)
        value = value << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
    return {value, bytes};
}

int columns_of(uint32_t c) {
    auto in = [c](uint32_t first, uint32_t last) { return c >= first && c <= last; };
    if (in(0x300, 0x36f) || in(0x200b, 0x200f) || c == 0xfe0f) return 0;
    const bool wide = in(0x1100, 0x115f) || in(0x2e80, 0xa4cf) || in(0xac00, 0xd7a3) || in(0xf900, 0xfaff) ||
                      in(0xfe30, 0xfe6f) || in(0xff00, 0xff60) || in(0xffe0, 0xffe6) ||
                      in(0x1f300, 0x1faff) || in(0x20000, 0x3fffd);
    return wide ? 2 : 1;
}

/// Returns the length of the escape sequence that starts here; 0 if there is none.
size_t escape_at(const std::string& text, size_t at) {
    if (text[at] != '\033' || at + 1 >= text.size() || text[at + 1] != '[') return 0;
    const size_t end = text.find_first_of("mKJHABCD", at + 2);
    return end == std::string::npos ? 0 : end - at + 1;
}

int environment_number(const char* name) {
    const char* text = std::getenv(name);
    int value = 0;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
    return value;
}

}  // namespace

Terminal terminal_of(FILE* stream) {
    Terminal terminal;
    const int fd = fileno(stream);
    terminal.is_tty = isatty(fd) == 1;
    winsize size{};
    if (terminal.is_tty && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        terminal.width = size.ws_col;
        terminal.height = size.ws_row > 0 ? size.ws_row : terminal.height;
    } else if (const int columns = environment_number("COLUMNS"); columns > 0) {
        terminal.width = columns;
    }
    terminal.width = std::max(terminal.width, kLeastWidth);
    const char* none = std::getenv("NO_COLOR");
    const char* kind = std::getenv("TERM");
    const bool dumb = kind != nullptr && std::strcmp(kind, "dumb") == 0;
    terminal.ink = TextStyle(terminal.is_tty && !dumb && (none == nullptr || *none == '\0'));
    return terminal;
}

int display_width(const std::string& text) {
    int width = 0;
    for (size_t at = 0; at < text.size();) {
        if (const size_t escape = escape_at(text, at)) {
            at += escape;
            continue;
        }
        const CodePoint point = code_point_at(text, at);
        width += columns_of(point.value);
        at += point.bytes;
    }
    return width;
}

std::string fit(const std::string& text, int width) {
    if (display_width(text) <= width) return text;
    std::string cut;
    int used = 0;
    bool painted = false;
    for (size_t at = 0; at < text.size();) {
        if (const size_t escape = escape_at(text, at)) {
            painted = true;
            cut += text.substr(at, escape);
            at += escape;
            continue;
        }
        const CodePoint point = code_point_at(text, at);
        used += columns_of(point.value);
        if (used > width - 1) break;
        cut += text.substr(at, point.bytes);
        at += point.bytes;
    }
    return cut + "…" + (painted ? "\033[0m" : "");
}

std::string padded(const std::string& text, int width) {
    return text + std::string(static_cast<size_t>(std::max(0, width - display_width(text))), ' ');
}

std::string right_aligned(const std::string& text, int width) {
    return std::string(static_cast<size_t>(std::max(0, width - display_width(text))), ' ') + text;
}

std::vector<std::string> wrap(const std::string& text, int width) {
    std::vector<std::string> lines;
    std::string line, word;
    auto end_word = [&] {
        if (word.empty()) return;
        if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
            lines.push_back(std::move(line));
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        word.clear();
    };
    for (char c : text) {
        if (c == ' ' || c == '\n') {
            end_word();
            if (c == '\n') {
                lines.push_back(std::move(line));
                line.clear();
            }
        } else {
            word += c;
        }
    }
    end_word();
    if (!line.empty() || lines.empty()) lines.push_back(line);
    return lines;
}

std::string printable(const std::string& text) {
    std::string clean;
    for (size_t at = 0; at < text.size();) {
        const CodePoint point = code_point_at(text, at);
        const bool control =
            (point.value < 0x20 && point.value != '\n') || (point.value >= 0x7f && point.value < 0xa0);
        const bool damaged = point.bytes == 1 && point.value >= 0x80;
        clean += point.value == '\t' ? " " : control || damaged ? "?" : text.substr(at, point.bytes);
        at += point.bytes;
    }
    return clean;
}

std::string repeated(const std::string& piece, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += piece;
    return text;
}

std::string bar(double share, int width) {
    static const std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!std::isfinite(share)) share = 0;
    const int eighths = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width * 8));
    const bool part = eighths % 8 != 0;
    return repeated("█", eighths / 8) + kEighths[static_cast<size_t>(eighths % 8)] +
           repeated("·", width - eighths / 8 - (part ? 1 : 0));
}

}  // namespace ringmaster
