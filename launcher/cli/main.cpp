// ringmaster: the command line. It parses and prints; the launcher's library does the work.
#include <unistd.h>
#include <QCoreApplication>
#include <QProcess>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>

#include "engine/config/keys.h"
#include "engine/error.h"
#include "engine/words/spelling.h"
#include "launcher/base/help_texts.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/failure.h"
#include "launcher/cli/look_commands.h"
#include "launcher/cli/terminal.h"
#include "launcher/queue/queue_runner.h"

namespace ringmaster {

namespace {

std::vector<Command> commands() {
    std::vector<Command> all = {plan_command(),      advise_command(), preflight_command(), prepare_command(),
                                launch_command(),    watch_command(),  stop_command(),      resume_command(),
                                runs_command(),      export_command(), fetch_command(),     setup_command(),
                                calibrate_command(), nodes_command(),  adapt_command(),     merge_command(),
                                rows_command(),      serve_command(),  generate_command(),  card_command(),
                                push_command()};
    std::ranges::move(queue_commands(), std::back_inserter(all));
    return all;
}

/// Returns the ids of a book's entries: "configuration, families, …".
std::string topics(HelpBook book) {
    std::string names;
    for (const HelpEntry& entry : read_help(book, "en"))
        names += (names.empty() ? "" : ", ") + entry.id.toStdString();
    return names;
}

int text_width() {
    return std::clamp(terminal_of(stdout).width, 60, 110);
}

/// Breaks Markdown into lines of the terminal's width; leaves tables and code blocks unchanged.
std::string wrapped(const std::string& markdown) {
    std::string lines;
    bool in_block = false;
    for (size_t start = 0, end = 0; end != std::string::npos; start = end + 1) {
        end = markdown.find('\n', start);
        const std::string line = markdown.substr(start, end - start);
        if (line.starts_with("```")) in_block = !in_block;
        if (in_block || line.empty() || line.starts_with("|")) {
            lines += line + "\n";
        } else {
            for (const std::string& part : wrap(line, text_width())) lines += part + "\n";
        }
    }
    return lines;
}

/// Returns two columns: `left`, and `text` broken into lines to its right.
std::string row(const std::string& left, const std::string& text) {
    constexpr int kLeft = 22;
    std::string lines, beside = "  " + padded(left, kLeft);
    for (const std::string& line : wrap(text, text_width() - kLeft)) {
        lines += beside + line + "\n";
        beside = std::string(kLeft + 2, ' ');
    }
    return lines;
}

std::string usage() {
    std::string text = "usage: ringmaster [COMMAND …]      without a command: the desktop app\n\n";
    for (const Command& command : commands()) {
        if (!command.spec.summary.empty())
            text += row(command.spec.name + " " + command.spec.operand, command.spec.summary);
    }
    return text + "\n" + row("COMMAND --help", "shows its options") +
           row("help CODE", "explains a finding's code, such as CP-DIVISOR") +
           row("help TOPIC", topics(HelpBook::Guide)) + row("help FIGURE", topics(HelpBook::Figures)) +
           row("--version", "shows the programs' versions");
}

/// Returns "ringmaster-engine 0.1.0, LibTorch 2.11.0"; a message if the engine does not start.
std::string engine_version(const Places& places) {
    constexpr int kPatienceMs = 20'000;
    const std::string unknown = "ringmaster-engine was not found or does not start";
    if (!std::filesystem::exists(places.engine())) return unknown;
    QProcess engine;
    engine.start(QString::fromStdString(places.engine().string()), {QStringLiteral("--version")});
    if (!engine.waitForFinished(kPatienceMs) || engine.exitStatus() != QProcess::NormalExit) return unknown;
    const QByteArray said =
        engine.exitCode() == 0 ? engine.readAllStandardOutput() : engine.readAllStandardError();
    return said.trimmed().isEmpty() ? unknown : said.trimmed().toStdString();
}

int print_version(const Places& places) {
    print(std::string("ringmaster ") + RINGMASTER_VERSION + "\n" + engine_version(places) + "\n");
    return 0;
}

int open_app(const Places& places) {
    const std::string gui = places.gui().string();
    if (std::filesystem::exists(gui)) {
        const char* arguments[] = {gui.c_str(), nullptr};
        ::execv(gui.c_str(),
                const_cast<char* const*>(
                    arguments));  // NOLINT(cppcoreguidelines-pro-type-const-cast): exec's old signature
        complain("ringmaster: " + gui + " cannot be started: " + std::strerror(errno) + "\n\n" + usage());
        return 2;
    }
    complain("ringmaster: the desktop app is not installed (" + gui +
             " is missing); this is the command line:\n\n" + usage());
    return 2;
}

int run_command(const Command& command, std::span<char* const> words, CommandContext& session) {
    session.streams = command.streams;
    for (const char* word : words) {
        if (std::strcmp(word, "--help") == 0 || std::strcmp(word, "-h") == 0) {
            print(help_of(command.spec));
            return 0;
        }
        if (std::strcmp(word, "--") == 0) break;
    }
    return command.run(Arguments(command.spec, words), session);
}

/// Returns the options of the command `topic`, or the help entry whose id is `topic` in any case. Throws
/// Error(Usage) for any other topic.
std::string help_on(const std::string& topic) {
    for (const Command& command : commands()) {
        if (command.spec.name == topic) return help_of(command.spec);
    }
    for (HelpBook book : {HelpBook::Guide, HelpBook::Figures, HelpBook::Codes}) {
        for (const HelpEntry& entry : read_help(book, "en")) {
            if (entry.id.compare(QString::fromStdString(topic), Qt::CaseInsensitive) != 0) continue;
            const QString heading =
                book == HelpBook::Codes ? entry.id + QStringLiteral(": ") + entry.title : entry.title;
            return wrapped((heading + QStringLiteral("\n\n") + entry.text).toStdString());
        }
    }
    throw Error(Failure::Usage, Code("ARGUMENT-UNKNOWN"), "there is no help on '" + printable(topic) + "'",
                "help",
                "`ringmaster help` lists the commands and topics; a finding's code, such as CP-DIVISOR, is a "
                "topic too");
}

int dispatch(std::span<char* const> words, CommandContext& session) {
    const std::string name = words.front();
    if (name == "--help" || name == "-h" || name == "help") {
        const bool has_topic = words.size() > 1 && *words[1] != '-';
        print(has_topic ? help_on(words[1]) : usage());
        return 0;
    }
    if (name == "--version") return print_version(session.places);
    if (!name.starts_with("queue")) wake_queue(session.places);
    std::vector<std::string> names;
    const std::string two_words = words.size() > 1 ? name + " " + words[1] : name;
    for (const Command& command : commands()) {
        if (words.size() > 1 && command.spec.name == two_words)
            return run_command(command, words.subspan(2), session);
        if (command.spec.name == name) return run_command(command, words.subspan(1), session);
        names.push_back(command.spec.name);
    }
    const std::string near = nearest_word(name, names);
    std::string all;
    for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
    throw Error(Failure::Usage, Code("ARGUMENT-UNKNOWN"), "there is no command '" + name + "'", {},
                (near.empty() ? std::string() : "did you mean " + near + "? ") + "There are: " + all);
}

int guarded(std::span<char* const> words, CommandContext& session) {
    try {
        return words.empty() ? open_app(session.places) : dispatch(words, session);
    } catch (const PlanRefused& refused) {
        return report_failure(refused, session);
    } catch (const Error& error) {
        return report_failure(error, session);
    } catch (const Cancelled&) {
        return report_interruption(session);
    } catch (const std::exception& unforeseen) {
        return report_failure(Error(Failure::Refused, Code("INTERNAL-ERROR"), unforeseen.what()), session);
    }
}

}  // namespace

}  // namespace ringmaster

int main(int argc, char** argv) {
    const QCoreApplication application(argc, argv);
    const std::span<char* const> words(argv + 1, static_cast<size_t>(argc - 1));
    std::filesystem::path run_dir;
    ringmaster::CommandContext session;
    session.run_dir = &run_dir;
    session.places = ringmaster::find_places();
    session.out = ringmaster::terminal_of(stdout);
    session.err = ringmaster::terminal_of(stderr);
    for (const char* word : words) session.json = session.json || std::strcmp(word, "--json") == 0;
    return ringmaster::guarded(words, session);
}
