/// Parses the arguments of a program or of its subcommand according to a table, from which it also makes the
/// help text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ringmaster {

struct OptionSpec {
    std::string name;   ///< "--ranks"
    std::string value;  ///< "N"; empty: the option is a flag
    std::string help;
    bool repeatable = false;
};

struct CommandSpec {
    std::string name;
    std::string operand;  ///< name of the operand: "CONFIG", "RUN"; empty: none
    bool operand_needed = true;
    std::string summary;
    std::vector<OptionSpec> options;
    std::string more;  ///< text at the end of the help
    std::string program = "ringmaster";
    /// Usage lines without the program's name. If there are none, the usage lists the operand and the
    /// options.
    std::vector<std::string> forms = {};

    std::string command() const;  ///< "ringmaster plan"
};

class Arguments {
  public:
    /// Parses `words`. Throws Error(Usage) for an unknown option (with the nearest name), a missing value, or
    /// a missing or superfluous operand.
    Arguments(const CommandSpec& spec, std::span<char* const> words);

    const std::string& operand() const { return operand_; }
    bool has(const std::string& option) const { return values_.contains(option); }
    /// Returns the option's last value; empty if it was not given.
    std::string text(const std::string& option) const;
    std::vector<std::string> all(const std::string& option) const;
    /// Throws Error(Usage), naming the option, if its value is not a whole number of at least `least`.
    std::optional<int64_t> whole(const std::string& option, int64_t least,
                                 int64_t most = 1'000'000'000) const;
    /// Returns the option's value; nothing if it was not given. Throws Error(Usage) unless it is above 0.
    std::optional<double> number(const std::string& option) const;
    /// Returns the option's value, one of two words; empty if it was not given. Throws Error(Usage).
    std::string either(const std::string& option, const std::string& one, const std::string& other) const;

  private:
    std::string operand_;
    std::map<std::string, std::vector<std::string>> values_;
};

std::string help_of(const CommandSpec& spec);
/// Returns the first lines of the help, which show the command's forms.
std::string usage_of(const CommandSpec& spec);

}  // namespace ringmaster
