// ringmaster: the command line. Parses and prints; what it does is the launcher's library.
#include <unistd.h>
#include <QCoreApplication>
#include <QProcess>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>

#include "engine/config/finding_record.h"
#include "engine/config/keys.h"
#include "engine/error.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/failure.h"

namespace ringmaster {

namespace {

std::vector<Command> commands() {
    return {plan_command(),  advise_command(), preflight_command(), prepare_command(), launch_command(),
            watch_command(), stop_command(),   resume_command(),    runs_command(),    export_command(),
            fetch_command(), setup_command(),  calibrate_command(), nodes_command(),   adapt_command(),
            merge_command()};
}

std::string usage() {
    std::string text = "usage: ringmaster [COMMAND …]      without a command: the desktop app\n\n";
    for (const Command& command : commands()) {
        std::string left =
            "  " + command.spec.name + (command.spec.operand.empty() ? "" : " " + command.spec.operand);
        left.resize(18, ' ');
        text += left + command.spec.summary + "\n";
    }
    return text +
           "\n  ringmaster COMMAND --help   its options\n  ringmaster help CODE        what a finding's code "
           "means\n  ringmaster --version\n";
}

/// "ringmaster-engine 0.1.0, LibTorch 2.11.0", or why it does not start.
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

int run_command(const Command& command, std::span<char* const> words, Session& session) {
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

/// The options of a command, or what the record of a code explains, in any case of its letters. Throws
/// Error(Usage) for other topics.
std::string help_on(const std::string& topic) {
    for (const Command& command : commands()) {
        if (command.spec.name == topic) return help_of(command.spec);
    }
    std::string code = topic;
    std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) { return std::toupper(c); });
    if (const FindingTexts* texts = texts_of(code, "en"))
        return code + ": " + texts->title + "\n\n" + texts->explanation;
    throw Error(Failure::Usage, Code("ARGUMENT-UNKNOWN"), "there is no help on '" + printable(topic) + "'",
                "help",
                "topics are the commands (`ringmaster help`) and the codes of findings, such as CP-DIVISOR");
}

int dispatch(std::span<char* const> words, Session& session) {
    const std::string name = words.front();
    if (name == "--help" || name == "-h" || name == "help") {
        print(words.size() > 1 ? help_on(words[1]) : usage());
        return 0;
    }
    if (name == "--version") return print_version(session.places);
    std::vector<std::string> names;
    for (const Command& command : commands()) {
        if (command.spec.name == name) return run_command(command, words.subspan(1), session);
        names.push_back(command.spec.name);
    }
    const std::string near = nearest_word(name, names);
    std::string all;
    for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
    throw Error(Failure::Usage, Code("ARGUMENT-UNKNOWN"), "there is no command '" + name + "'", {},
                (near.empty() ? std::string() : "did you mean " + near + "? ") + "There are: " + all);
}

int guarded(std::span<char* const> words, Session& session) {
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
    ringmaster::Session session;
    session.run_dir = &run_dir;
    session.places = ringmaster::find_places();
    session.out = ringmaster::terminal_of(stdout);
    session.err = ringmaster::terminal_of(stderr);
    for (const char* word : words) session.json = session.json || std::strcmp(word, "--json") == 0;
    return ringmaster::guarded(words, session);
}
