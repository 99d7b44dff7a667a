#include "engine/words/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "engine/error.h"
#include "engine/words/spelling.h"

namespace ringmaster {

namespace {

const OptionSpec& find_option(const CommandSpec& spec, const std::string& name) {
    std::vector<std::string> names;
    for (const OptionSpec& option : spec.options) {
        if (option.name == name) return option;
        names.push_back(option.name);
    }
    const std::string near = nearest_word(name, names);
    throw Error(
        Failure::Usage, Code("ARGUMENT-UNKNOWN"), "`" + spec.command() + "` has no option " + name, {},
        !near.empty() ? "did you mean " + near + "?" : "`" + spec.command() + " --help` lists its options");
}

constexpr size_t kHelpColumn = 26;

}  // namespace

std::string CommandSpec::command() const {
    return name.empty() ? program : program + " " + name;
}

Arguments::Arguments(const CommandSpec& spec, std::span<char* const> words) {
    std::vector<std::string> operands;
    bool only_operands = false;
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string word = words[i];
        if (only_operands || word.size() < 2 || word[0] != '-') {
            operands.push_back(word);
            continue;
        }
        if (word == "--") {
            only_operands = true;
            continue;
        }
        const size_t equals = word.find('=');
        const OptionSpec& option = find_option(spec, word.substr(0, equals));
        const bool has_value = equals != std::string::npos;
        if (option.value.empty()) {
            if (has_value)
                throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), option.name + " takes no value");
            values_[option.name];
            continue;
        }
        const bool none_follows = i + 1 == words.size() || std::string_view(words[i + 1]).starts_with("--");
        if (!has_value && none_follows)
            throw Error(Failure::Usage, Code("ARGUMENT-MISSING"),
                        option.name + " needs a value: " + option.value);
        values_[option.name].push_back(has_value ? word.substr(equals + 1) : words[++i]);
    }
    if (operands.size() > (spec.operand.empty() ? 0 : 1)) {
        throw Error(Failure::Usage, Code("ARGUMENT-UNKNOWN"), "unexpected argument '" + operands.back() + "'",
                    {}, "usage: " + spec.command() + (spec.operand.empty() ? "" : " " + spec.operand));
    }
    if (operands.empty() && !spec.operand.empty() && spec.operand_needed) {
        throw Error(Failure::Usage, Code("ARGUMENT-MISSING"), spec.operand + " is missing", {},
                    "usage: " + spec.command() + " " + spec.operand);
    }
    if (!operands.empty()) operand_ = operands.front();
}

std::string Arguments::text(const std::string& option) const {
    const auto found = values_.find(option);
    return found == values_.end() || found->second.empty() ? std::string() : found->second.back();
}

std::vector<std::string> Arguments::all(const std::string& option) const {
    const auto found = values_.find(option);
    return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::optional<int64_t> Arguments::whole(const std::string& option, int64_t least, int64_t most) const {
    if (!has(option)) return std::nullopt;
    const std::string given = text(option);
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (problem != std::errc() || end != given.data() + given.size() || value < least || value > most) {
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"),
                    "'" + given + "' is not a whole number from " + std::to_string(least) + " to " +
                        std::to_string(most),
                    option);
    }
    return value;
}

std::optional<double> Arguments::number(const std::string& option) const {
    if (!has(option)) return std::nullopt;
    const std::string given = text(option);
    double value = 0;
    const auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (problem != std::errc() || end != given.data() + given.size() || !std::isfinite(value) || value <= 0) {
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "'" + given + "' is not a number above 0",
                    option);
    }
    return value;
}

std::string Arguments::either(const std::string& option, const std::string& one,
                              const std::string& other) const {
    const std::string given = text(option);
    if (has(option) && given != one && given != other)
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"),
                    "'" + given + "' is neither " + one + " nor " + other, option);
    return given;
}

std::string usage_of(const CommandSpec& spec) {
    if (spec.forms.empty()) {
        const std::string operand = spec.operand.empty()  ? ""
                                    : spec.operand_needed ? " " + spec.operand
                                                          : " [" + spec.operand + "]";
        return "usage: " + spec.command() + operand + " [options]\n";
    }
    std::string text;
    for (const std::string& form : spec.forms)
        text += (text.empty() ? "usage: " : "       ") + spec.command() + " " + form + "\n";
    return text;
}

std::string help_of(const CommandSpec& spec) {
    std::string text = usage_of(spec) + "\n" + spec.summary + "\n\noptions:\n";
    for (const OptionSpec& option : spec.options) {
        std::string left = "  " + option.name + (option.value.empty() ? "" : " " + option.value);
        left.resize(std::max(left.size() + 2, kHelpColumn), ' ');
        std::string help = option.help + (option.repeatable ? " (repeatable)" : "");
        for (size_t at = 0; (at = help.find('\n', at)) != std::string::npos; at += kHelpColumn + 1) {
            help.insert(at + 1, std::string(kHelpColumn, ' '));
        }
        text += left + help + "\n";
    }
    return spec.more.empty() ? text : text + "\n" + spec.more + "\n";
}

}  // namespace ringmaster
