/// Generates mutations of a corpus from a seed, for fuzz targets built with the ordinary compiler.
#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace ringmaster::fuzz {

/// Reads a dictionary in libFuzzer's format: one `"text"` or `name="text"` per line, with \\, \" and \xNN;
/// lines that begin with # are comments. Throws std::runtime_error naming the line.
std::vector<std::string> read_dictionary(const std::filesystem::path& file);

class Mutator {
  public:
    /// `corpus` must not be empty.
    Mutator(std::vector<std::string> corpus, std::vector<std::string> dictionary, uint64_t seed);

    /// Returns an input of the corpus with one to eight changes to its bytes, ranges, lines and numbers, or
    /// with words of the dictionary or parts of another input in it. One input in 64 also becomes long or
    /// deeply nested, up to kLongest bytes.
    std::string next();

  private:
    size_t below(size_t n);  ///< a random number below n; 0 for n = 0
    const std::string& any(const std::vector<std::string>& from);
    void change(std::string& text);
    void change_bytes(std::string& text);
    void change_range(std::string& text);
    void change_lines(std::string& text);
    void change_number(std::string& text);
    void change_word(std::string& text);
    void splice(std::string& text);
    void lengthen(std::string& text);

    std::vector<std::string> corpus_;
    std::vector<std::string> dictionary_;
    std::mt19937_64 random_;
};

}  // namespace ringmaster::fuzz
