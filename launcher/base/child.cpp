#include "launcher/base/child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <QProcess>
#include <QStringList>

#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr int kPollMs = 100;
constexpr int kPatienceMs = 5000;  ///< time a terminated program gets to exit before it is killed
constexpr size_t kKeptText = 4000;

void start(QProcess& process, const ChildProgram& child) {
    QStringList arguments;
    for (const std::string& argument : child.arguments) arguments << QString::fromStdString(argument);
    const pid_t parent = getpid();
    process.setChildProcessModifier([parent] {
        setsid();  // keeps the terminal's Ctrl-C away from the child
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(1);
    });
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(QString::fromStdString(child.program), arguments);
    if (!process.waitForStarted()) {
        throw Error(Failure::Unreachable, Code("PROGRAM-START"),
                    "cannot be started: " + process.errorString().toStdString(), child.program, child.hint);
    }
}

/// Cuts the program's output into lines and keeps the last ones.
class Lines {
  public:
    explicit Lines(const ChildWatch& watch) : watch_(watch) {}

    void take(const QByteArray& said) {
        pending_.append(said.constData(), static_cast<size_t>(said.size()));
        for (size_t end; (end = pending_.find_first_of("\r\n")) != std::string::npos;) {
            take_line(pending_.substr(0, end));
            pending_.erase(0, end + 1);
        }
    }
    std::string last_words() {
        take_line(pending_);
        while (!kept_.empty() && kept_.back() == '\n') kept_.pop_back();
        return kept_;
    }

  private:
    void take_line(const std::string& line) {
        if (line.empty() || (watch_.line && !watch_.line(line))) return;
        kept_ += line + "\n";
        if (kept_.size() > kKeptText) kept_.erase(0, kept_.size() - kKeptText);
    }

    const ChildWatch& watch_;
    std::string pending_, kept_;
};

void end(QProcess& process) {
    process.terminate();
    if (!process.waitForFinished(kPatienceMs)) process.kill();
    process.waitForFinished();
}

}  // namespace

void run_child(const ChildProgram& child, const ChildWatch& watch, const Progress& progress) {
    QProcess process;
    start(process, child);
    Lines lines(watch);
    while (process.state() != QProcess::NotRunning) {
        if (progress.is_cancelled()) {
            end(process);
            throw Cancelled();
        }
        process.waitForReadyRead(kPollMs);
        lines.take(process.readAll());
        if (watch.tick) watch.tick();
    }
    lines.take(process.readAll());
    const std::string said = lines.last_words();
    if (process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0) return;
    const std::string how = process.exitStatus() == QProcess::NormalExit
                                ? "ended with status " + std::to_string(process.exitCode())
                                : "was killed by a signal";
    throw Error(Failure::Unreachable, Code("PROGRAM-FAILED"), said.empty() ? how : said, child.what,
                child.hint);
}

}  // namespace ringmaster
