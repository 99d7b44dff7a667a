/// Describes a terminal: its width and colours, and text fitted to columns.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace ringmaster {

/// Colours text; without colours, every method returns the text unchanged.
class TextStyle {
  public:
    explicit TextStyle(bool on = false) : on_(on) {}
    bool on() const { return on_; }
    std::string bold(const std::string& text) const { return painted("1", text); }
    std::string dim(const std::string& text) const { return painted("2", text); }
    std::string red(const std::string& text) const { return painted("31", text); }
    std::string green(const std::string& text) const { return painted("32", text); }
    std::string yellow(const std::string& text) const { return painted("33", text); }
    std::string blue(const std::string& text) const { return painted("34", text); }
    std::string cyan(const std::string& text) const { return painted("36", text); }
    std::string colour(int of_256, const std::string& text) const {
        return painted("38;5;" + std::to_string(of_256), text);
    }

  private:
    std::string painted(const std::string& code, const std::string& text) const {
        return on_ && !text.empty() ? "\033[" + code + "m" + text + "\033[0m" : text;
    }
    bool on_;
};

struct Terminal {
    bool is_tty = false;
    int width = 80;
    int height = 24;
    TextStyle ink;
};

/// Uses colour only on a terminal, unless NO_COLOR is set or TERM is dumb. If `stream` is not a terminal, the
/// width is COLUMNS or 80.
Terminal terminal_of(FILE* stream);

/// Returns the columns that a UTF-8 text takes; escape sequences take none.
int display_width(const std::string& text);

/// Cuts the text to `width` columns; a text that was cut ends with "…".
std::string fit(const std::string& text, int width);

std::string padded(const std::string& text, int width);         ///< adds spaces after the text
std::string right_aligned(const std::string& text, int width);  ///< adds spaces before the text

/// Breaks the text at spaces and newlines into lines of at most `width` columns; a longer word gets its own
/// line, unbroken.
std::vector<std::string> wrap(const std::string& text, int width);

/// Returns the text without control characters, which a file's or a host's text could contain.
std::string printable(const std::string& text);

/// Returns `count` copies of a string.
std::string repeated(const std::string& piece, int count);

/// Draws a share of `width` columns as "█" cells, in eighths, followed by "·".
std::string bar(double share, int width);

}  // namespace ringmaster
