/// A subcommand's arguments, parsed by a table that also writes its help.
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
    std::string value;  ///< "N"; empty: a flag
    std::string help;
    bool repeatable = false;
};

struct CommandSpec {
    std::string name;
    std::string operand;  ///< "CONFIG", "RUN"; empty: none
    bool operand_needed = true;
    std::string summary;
    std::vector<OptionSpec> options;
    std::string more;  ///< at the end of the help
};

class Arguments {
  public:
    /// Throws Error(Usage): an unknown option (naming the nearest), a missing value, a missing or superfluous
    /// operand.
    Arguments(const CommandSpec& spec, std::span<char* const> words);

    const std::string& operand() const { return operand_; }
    bool has(const std::string& option) const { return values_.contains(option); }
    /// Empty where the option was not given; the last one counts.
    std::string text(const std::string& option) const;
    std::vector<std::string> all(const std::string& option) const;
    /// Throws Error(Usage) naming the option where it is no whole number from `least`.
    std::optional<int64_t> whole(const std::string& option, int64_t least) const;
    std::optional<double> number(const std::string& option) const;  ///< above 0

  private:
    std::string operand_;
    std::map<std::string, std::vector<std::string>> values_;
};

std::string help_of(const CommandSpec& spec);

}  // namespace ringmaster
