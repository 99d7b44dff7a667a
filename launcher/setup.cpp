#include "launcher/setup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <QProcess>
#include <QStringList>
#include <string>
#include <thread>
#include <vector>

#include "engine/error.h"
#include "launcher/files.h"

namespace ringmaster {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr int kPollMs = 100;
constexpr int kPatienceMs = 5000;
constexpr size_t kKeptText = 4000;

fs::path requirements(const Places& places) {
    return places.share_dir / "requirements.txt";
}
fs::path marks(const Places& places) {
    return places.python_env / ".ringmaster";
}
fs::path unfinished(const Places& places) {
    return marks(places) / "installing";
}

/// As packaging/setup names it for launcher/tokenize/requirements.txt.
fs::path stamp(const Places& places) {
    const std::string content = read_file(requirements(places));
    const QByteArray hash = QCryptographicHash::hash(
        QByteArray(content.data(), static_cast<qsizetype>(content.size())), QCryptographicHash::Sha256);
    return marks(places) / ("tokenize-" + hash.toHex().left(16).toStdString());
}

void run(const std::string& program, const std::vector<std::string>& arguments, const std::string& what,
         const Progress& progress) {
    QStringList list;
    for (const std::string& argument : arguments) list << QString::fromStdString(argument);
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(QString::fromStdString(program), list);
    if (!process.waitForStarted())
        throw Error(Failure::Unreachable, "cannot be started: " + process.errorString().toStdString(),
                    program);
    std::string said;
    while (process.state() != QProcess::NotRunning) {
        if (progress.is_cancelled()) {
            process.terminate();
            if (!process.waitForFinished(kPatienceMs)) process.kill();
            process.waitForFinished();
            throw Cancelled();
        }
        process.waitForReadyRead(kPollMs);
        said += process.readAll().toStdString();
        const size_t last_line = said.find_last_of('\n', said.size() > 1 ? said.size() - 2 : 0);
        std::string line = said.substr(last_line == std::string::npos ? 0 : last_line + 1);
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
        progress.report({line.empty() ? what : what + ": " + line, 0, 0});
        if (said.size() > 2 * kKeptText) said.erase(0, said.size() - kKeptText);
    }
    said += process.readAll().toStdString();
    if (process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0) return;
    throw Error(Failure::Unreachable, said.size() > kKeptText ? said.substr(said.size() - kKeptText) : said,
                what, "the packages come from PyPI: is there a network, and space on the disk?");
}

/// Held as long as the object lives, by packaging/setup as well.
class SetupLock {
  public:
    SetupLock(const Places& places, const Progress& progress) {
        make_folder(places.cache_dir);
        const fs::path file = places.cache_dir / "setup.lock";
        fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (fd_ < 0) throw Error(Failure::Refused, "cannot be written", file.string());
        while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
            progress.report({"waiting for another set-up to finish", 0, 0});
            if (progress.is_cancelled()) {
                ::close(fd_);
                throw Cancelled();
            }
            std::this_thread::sleep_for(200ms);
        }
    }
    SetupLock(const SetupLock&) = delete;
    SetupLock& operator=(const SetupLock&) = delete;
    ~SetupLock() { ::close(fd_); }

  private:
    int fd_ = -1;
};

}  // namespace

bool is_set_up(const Places& places) {
    return fs::exists(places.python()) && fs::exists(stamp(places)) && !fs::exists(unfinished(places));
}

void set_up(const Places& places, const Progress& progress) {
    if (is_set_up(places)) return;
    const SetupLock lock(places, progress);
    if (is_set_up(places)) return;
    // An interrupted pip may leave half a package that it takes for a whole one: such an environment is made
    // anew.
    if (fs::exists(unfinished(places)) || !fs::exists(places.python())) {
        make_folder(places.python_env);
        run("python3", {"-m", "venv", "--clear", places.python_env.string()}, "making the Python environment",
            progress);
    }
    make_folder(marks(places));
    write_file(unfinished(places), "");
    run(places.python().string(),
        {"-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "-r",
         requirements(places).string()},
        "installing the packages", progress);
    for (const fs::directory_entry& entry : fs::directory_iterator(marks(places))) {
        if (entry.path().filename().string().starts_with("tokenize-")) fs::remove(entry.path());
    }
    write_file(stamp(places), "");
    fs::remove(unfinished(places));
}

}  // namespace ringmaster
