#include "launcher/queue/queue_service.h"

#include <unistd.h>

#include <QDir>
#include <QProcess>
#include <array>
#include <cstdlib>

#include "engine/error.h"
#include "launcher/base/files.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr const char* kUnit = "ringmaster-queue.service";
constexpr int kPatienceS = 30;
constexpr const char* kWithoutService =
    "nothing was changed: after a reboot the queue continues when you next run a Ringmaster command or open "
    "the app";

// Variables that decide where runs find their programs, models and devices.
constexpr std::array kVariables = {"PATH",
                                   "XDG_CACHE_HOME",
                                   "XDG_CONFIG_HOME",
                                   "XDG_DATA_HOME",
                                   "HF_HOME",
                                   "HF_HUB_CACHE",
                                   "HUGGINGFACE_HUB_CACHE",
                                   "RINGMASTER_PYTHON_ENV",
                                   "RINGMASTER_SYSTEM_PYTHON",
                                   "RINGMASTER_SSH_CONFIG",
                                   "CUDA_VISIBLE_DEVICES",
                                   "SLURM_CONF"};

fs::path unit_file() {
    const char* asked = std::getenv("XDG_CONFIG_HOME");
    const fs::path config = asked == nullptr ? fs::path() : fs::path(asked);
    const fs::path home = QDir::homePath().toStdString();
    return (config.is_absolute() ? config : home / ".config") / "systemd" / "user" / kUnit;
}

struct Answer {
    bool is_started = false, is_good = false;
    std::string out, errors;
};

Answer ask(const char* program, const QStringList& arguments) {
    QProcess process;
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(QString::fromLatin1(program), arguments);
    Answer answer;
    answer.is_started = process.waitForStarted();
    if (!answer.is_started) return answer;
    if (!process.waitForFinished(1000 * kPatienceS)) {
        process.kill();
        process.waitForFinished();
        answer.errors = "it has not answered for " + std::to_string(kPatienceS) + " s";
        return answer;
    }
    answer.is_good = process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    answer.out = process.readAllStandardOutput().trimmed().toStdString();
    answer.errors = process.readAllStandardError().trimmed().toStdString();
    return answer;
}

Answer ask_manager(const QStringList& arguments) {
    return ask("systemctl", QStringList{QStringLiteral("--user")} + arguments);
}

/// Returns why this user has no systemd manager on this machine; empty if the manager answers.
std::string missing_manager() {
    const Answer answer = ask_manager({QStringLiteral("show-environment")});
    if (!answer.is_started) return "systemctl is not installed: this machine does not run systemd";
    if (answer.is_good) return {};
    return "systemd's user manager does not answer" + (answer.errors.empty() ? "" : ": " + answer.errors);
}

[[noreturn]] void refuse(const std::string& why, const std::string& where, const std::string& hint) {
    throw Error(Failure::Unreachable, Code("QUEUE-SERVICE"), why, where, hint);
}

void require_manager() {
    const std::string missing = missing_manager();
    if (missing.empty()) return;
    refuse(missing, "the queue's service",
           std::string(kWithoutService) +
               ". If the machine runs systemd, log in to it directly, not through su or sudo");
}

void tell_manager(const QStringList& arguments) {
    const Answer answer = ask_manager(arguments);
    if (!answer.is_good)
        refuse(answer.errors.empty() ? "systemd refused it" : answer.errors,
               "systemctl --user " + arguments.join(QLatin1Char(' ')).toStdString(), kWithoutService);
}

enum class UnitValue { Argument, Variable };

/// Quotes a value as systemd.syntax(7) asks. In an argument, `$` begins a variable, too.
std::string unit_quoted(const std::string& text, UnitValue kind) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (c == '%' || (c == '$' && kind == UnitValue::Argument)) quoted += c;
        if (c == '\n')
            quoted += "\\n";
        else
            quoted += c;
    }
    return quoted + "\"";
}

/// Restores the unit file, or disables and removes it if there was none; reloads systemd. Never throws.
void restore(const fs::path& unit, const std::optional<std::string>& before) {
    try {
        if (before) {
            write_file(unit, *before);
        } else {
            ask_manager({QStringLiteral("disable"), QString::fromLatin1(kUnit)});
            std::error_code none;
            fs::remove(unit, none);
        }
    } catch (const Error&) {  // the first error is the one to report
    }
    ask_manager({QStringLiteral("daemon-reload")});
}

}  // namespace

QueueService queue_service() {
    QueueService service;
    service.unit = unit_file();
    service.obstacle = missing_manager();
    if (!service.obstacle.empty()) return service;
    std::error_code none;
    service.is_on = fs::exists(service.unit, none) &&
                    ask_manager({QStringLiteral("is-enabled"), QString::fromLatin1(kUnit)}).is_good;
    const Answer lingers = ask("loginctl", {QStringLiteral("show-user"), QString::number(getuid()),
                                            QStringLiteral("--property=Linger"), QStringLiteral("--value")});
    if (lingers.is_good && !lingers.out.empty()) service.lingers = lingers.out == "yes";
    return service;
}

std::string queue_unit(const Places& places) {
    std::string variables;
    for (const char* name : kVariables) {
        if (const char* value = std::getenv(name))
            variables +=
                "Environment=" + unit_quoted(std::string(name) + "=" + value, UnitValue::Variable) + "\n";
    }
    // The runs must outlive the program that started them: hence KillMode and OOMPolicy. Exit statuses 1 and
    // 2 mean that a new attempt would fail in the same way.
    return "# Written by `ringmaster queue service on`; `ringmaster queue service off` removes it.\n"
           "[Unit]\nDescription=Queue of Ringmaster's runs\n\n"
           "[Service]\nType=exec\nExecStart=" +
           unit_quoted((places.programs_dir / "ringmaster").string(), UnitValue::Variable) +
           " queue run --runs-dir " + unit_quoted(places.runs_dir.string(), UnitValue::Argument) + "\n" +
           variables +
           "KillMode=process\nOOMPolicy=continue\nRestart=on-failure\nRestartSec=5\n"
           "RestartPreventExitStatus=1 2\n\n"
           "[Install]\nWantedBy=default.target\n";
}

void switch_queue_service_on(const Places& places) {
    require_manager();
    const fs::path unit = unit_file();
    std::error_code none;
    std::optional<std::string> before;
    if (fs::exists(unit, none)) before = read_file(unit);
    make_folder(unit.parent_path());
    write_file(unit, queue_unit(places));
    try {
        tell_manager({QStringLiteral("daemon-reload")});
        tell_manager({QStringLiteral("enable"), QStringLiteral("--now"), QString::fromLatin1(kUnit)});
    } catch (const Error&) {
        restore(unit, before);
        throw;
    }
}

void switch_queue_service_off() {
    require_manager();
    const fs::path unit = unit_file();
    std::error_code none;
    if (!fs::exists(unit, none)) return;
    tell_manager({QStringLiteral("disable"), QString::fromLatin1(kUnit)});
    fs::remove(unit, none);
    if (none)
        throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be removed: " + none.message(),
                    unit.string());
    tell_manager({QStringLiteral("daemon-reload")});
}

}  // namespace ringmaster
