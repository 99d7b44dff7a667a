#include "launcher/base/setup.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <string>
#include <thread>
#include <vector>

#include "engine/error.h"
#include "launcher/base/child.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/base/pip_progress.h"

namespace ringmaster {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr const char* kPip = "pip==";  ///< start of pip's line in the lock file
// Sizes measured with the torch 2.11.0 of requirements.txt and Python 3.11.
constexpr int64_t kDownloadBytes = 2'830'000'000;
constexpr int64_t kNeededBytes = 11'000'000'000;  ///< installed files, pip's cache and temporary files

fs::path requirements(const Places& places) {
    return places.share_dir / "requirements.txt";
}
fs::path marks(const Places& places) {
    return places.python_env / ".ringmaster";
}
fs::path unfinished(const Places& places) {
    return marks(places) / "installing";
}

/// Returns the marker file, named as packaging/setup names it for launcher/tokenize/requirements.txt.
fs::path stamp(const Places& places) {
    const std::string content = read_file(requirements(places));
    const QByteArray hash = QCryptographicHash::hash(
        QByteArray(content.data(), static_cast<qsizetype>(content.size())), QCryptographicHash::Sha256);
    return marks(places) / ("tokenize-" + hash.toHex().left(16).toStdString());
}

void run_python(const std::string& python, std::vector<std::string> arguments, const std::string& what,
                const ChildWatch& watch, const Progress& progress) {
    run_child({python, std::move(arguments), what,
               "the packages come from PyPI: is there a network, and space on the disk?"},
              watch, progress);
}

/// Returns the arguments with which pip installs the packages of a lock file and no others.
std::vector<std::string> pip_install(const fs::path& lock, std::vector<std::string> options = {}) {
    std::vector<std::string> arguments = {"-m",
                                          "pip",
                                          "install",
                                          "--no-input",
                                          "--disable-pip-version-check",
                                          "--require-hashes",
                                          "--only-binary",
                                          ":all:"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"-r", lock.string()});
    return arguments;
}

/// Returns the lock's entry for pip itself: its line and the lines with its hashes.
std::string pip_entry(const std::string& lock) {
    const size_t start = lock.find("\n" + std::string(kPip));
    if (start == std::string::npos) return {};
    size_t end = lock.find('\n', start + 1);
    while (end != std::string::npos && end > 0 && lock[end - 1] == '\\') end = lock.find('\n', end + 1);
    return lock.substr(start + 1, end - start);
}

/// Counts the packages that are completely installed in the environment.
int64_t count_packages(const Places& places) {
    int64_t count = 0;
    std::error_code not_yet;
    for (const auto& python : fs::directory_iterator(places.python_env / "lib", not_yet)) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(python.path() / "site-packages", none)) {
            count += entry.path().extension() == ".dist-info" && fs::exists(entry.path() / "RECORD", none);
        }
    }
    return count;
}

void warn_of_little_space(const Places& places, const Progress& progress) {
    std::error_code none;
    const fs::space_info space = fs::space(places.python_env, none);
    if (none || space.available >= static_cast<uintmax_t>(kNeededBytes)) return;
    progress.warn(places.python_env.string() + " is on a disk with " +
                  format_bytes(static_cast<int64_t>(space.available)) + " free; the packages take about " +
                  format_bytes(kNeededBytes) + " while they are installed");
}

/// Makes the environment. If an earlier pip was interrupted, makes it again: pip could mistake a
/// half-installed package for a complete one.
void make_environment(const Places& places, const Progress& progress) {
    if (!fs::exists(unfinished(places)) && fs::exists(places.python())) return;
    make_folder(places.python_env);
    const ProgressStep step{"environment"};
    progress.report(step);
    warn_of_little_space(places, progress);
    run_python(places.system_python.string(), {"-m", "venv", "--clear", places.python_env.string()},
               english(step), {}, progress);
}

void install_packages(const Places& places, const Progress& progress) {
    const std::string python = places.python().string();
    progress.report({"environment"});
    const fs::path pip_lock = marks(places) / "pip.txt";
    write_file(pip_lock, pip_entry(read_file(requirements(places))));
    run_python(python, pip_install(pip_lock), "installing pip", {}, progress);
    fs::remove(pip_lock);
    PipProgress pip(kDownloadBytes);
    const int64_t before = count_packages(places);
    const ChildWatch watch{[&pip](const std::string& line) { return pip.take(line); },
                           [&] {
                               const bool unpacking = pip.is_unpacking();
                               progress.report(pip.step(unpacking ? count_packages(places) - before : 0));
                           }};
    run_python(python, pip_install(requirements(places), {"--progress-bar", "raw"}),
               "installing the packages", watch, progress);
}

/// Holds the set-up lock while the object lives; packaging/setup takes the same lock.
class SetupLock {
  public:
    SetupLock(const Places& places, const Progress& progress) {
        make_folder(places.cache_dir);
        const fs::path file = places.cache_dir / "setup.lock";
        fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (fd_ < 0) throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be written", file.string());
        while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
            progress.report({"other-set-up"});
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
    make_environment(places, progress);
    make_folder(marks(places));
    write_file(unfinished(places), "");
    install_packages(places, progress);
    for (const fs::directory_entry& entry : fs::directory_iterator(marks(places))) {
        if (entry.path().filename().string().starts_with("tokenize-")) fs::remove(entry.path());
    }
    write_file(stamp(places), "");
    fs::remove(unfinished(places));
}

}  // namespace ringmaster
