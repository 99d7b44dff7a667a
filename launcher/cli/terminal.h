/// Text for a terminal: its width, colours where they are wanted, and text fitted to columns.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace ringmaster {

/// Colours; every method returns the text unchanged where there are none.
class Ink {
  public:
    explicit Ink(bool on = false) : on_(on) {}
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
    Ink ink;
};

/// Colour only on a terminal, and not where NO_COLOR is set or TERM is dumb. The width of what is no terminal
/// is COLUMNS' or 80.
Terminal terminal_of(FILE* stream);

/// Columns that UTF-8 text takes; escape sequences take none.
int display_width(const std::string& text);

/// Cut at `width` columns, with "…" where something is missing.
std::string fit(const std::string& text, int width);

std::string padded(const std::string& text, int width);         ///< spaces behind
std::string right_aligned(const std::string& text, int width);  ///< spaces before

/// Broken at blanks (and at newlines) into lines of at most `width` columns; a longer word stands alone,
/// whole.
std::vector<std::string> wrap(const std::string& text, int width);

/// Without control characters, which a file's or a host's text could hold: what is printed does only print.
std::string printable(const std::string& text);

/// `count` times a piece of text.
std::string repeated(const std::string& piece, int count);

/// "█" cells for a share of `width` columns, in eighths; "·" behind.
std::string bar(double share, int width);

}  // namespace ringmaster
