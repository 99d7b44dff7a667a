#include "launcher/history/diagnostics_bundle.h"

#include <sys/utsname.h>

#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "launcher/base/bounded_file.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/base/secrets.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMostBytes = 16 << 20;
constexpr int64_t kTailBytes = 256 << 10;
constexpr int64_t kHeadBytes = 16 << 10;
constexpr int kMostRanks = 64;
constexpr int kEngineMs = 20'000, kTarMs = 120'000;

std::string engine_version(const Places& places) {
    std::error_code none;
    if (!fs::exists(places.engine(), none)) return "ringmaster-engine is not there";
    QProcess engine;
    engine.start(QString::fromStdString(places.engine().string()), {QStringLiteral("--version")});
    const bool good = engine.waitForFinished(kEngineMs) && engine.exitStatus() == QProcess::NormalExit &&
                      engine.exitCode() == 0;
    const std::string said = engine.readAllStandardOutput().trimmed().toStdString();
    return good
               ? said
               : "ringmaster-engine does not start: " + engine.readAllStandardError().trimmed().toStdString();
}

std::string system_line() {
    utsname about{};
    if (::uname(&about) != 0) return "?";
    return std::string(about.sysname) + " " + about.release + " " + about.machine;
}

std::string versions_text(const Places& places) {
    return std::string("ringmaster ") + RINGMASTER_VERSION + "\n" + engine_version(places) + "\nQt " +
           qVersion() + "\n" + system_line() + "\n" + read_tail("/etc/os-release", kHeadBytes);
}

/// Collects the files and every secret in them first, so that each file can be masked before it is written.
class Bundle {
  public:
    explicit Bundle(const RunDirectory& run) : run_(run), secrets_(secrets_of_environment()) {}

    void add_document(const std::string& name) {
        try {
            const std::string text = read_bounded(run_.dir / name, kMostBytes);
            for (const std::string& secret : secrets_of_document(text)) secrets_.insert(secret);
            files_.push_back({name, text});
        } catch (const Error& problem) {
            left_out_ += name + ": " + problem.what() + "\n";
        }
    }
    void add_text(const std::string& name, const std::string& text) { files_.push_back({name, text}); }

    void add_ends(const std::string& name) {
        const fs::path file = run_.dir / name;
        const int64_t bytes = stamp_of(file).bytes;
        if (bytes == 0) return;
        std::string text;
        if (bytes > kTailBytes + kHeadBytes) {
            text = read_part(file, 0, kHeadBytes).value_or("");
            text += "\n… " + format_bytes(bytes - kTailBytes - kHeadBytes) + " left out …\n";
        }
        files_.push_back(
            {name, text + read_tail(file, bytes > kTailBytes + kHeadBytes ? kTailBytes : bytes)});
    }

    std::vector<BundledFile> take() {
        add_text("README.txt",
                 "Diagnostics of the run " + run_.name() + ", saved by Ringmaster " + RINGMASTER_VERSION +
                     " on " + format_time(unix_now()) +
                     ".\nValues that name or look like tokens, passwords or keys are replaced by " +
                     std::string(kMasked) + ".\nLook through the files before you pass them on." +
                     (left_out_.empty() ? "\n" : "\n\nLeft out:\n" + left_out_));
        for (BundledFile& file : files_) file.text = without_secrets(file.text, secrets_);
        return std::move(files_);
    }

  private:
    RunDirectory run_;
    std::set<std::string> secrets_;
    std::vector<BundledFile> files_;
    std::string left_out_;
};

void run_tar(const QStringList& arguments) {
    QProcess tar;
    tar.setProcessChannelMode(QProcess::MergedChannels);
    tar.start(QStringLiteral("tar"), arguments);
    if (!tar.waitForStarted())
        throw Error(Failure::Unreachable, Code("FILE-WRITE"), "`tar` cannot be started");
    if (!tar.waitForFinished(kTarMs) || tar.exitStatus() != QProcess::NormalExit || tar.exitCode() != 0)
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    "the archive could not be made: " + tar.readAll().trimmed().toStdString());
}

fs::path named_as_archive(const fs::path& file) {
    const std::string name = file.filename().string();
    if (name.empty())
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "the archive's name is empty", file.string());
    return name.ends_with(".tar.gz") || name.ends_with(".tgz") ? file : fs::path(file.string() + ".tar.gz");
}

}  // namespace

std::vector<BundledFile> diagnostics_of(const RunDirectory& run, const MachineFacts& machine,
                                        const Places& places) {
    Bundle bundle(run);
    for (const char* name : {"run.json", "plan.json", "config.yaml", "options.json"})
        bundle.add_document(name);
    std::error_code none;
    if (fs::exists(run.accelerate(), none)) bundle.add_document("accelerate.yaml");
    bundle.add_text("versions.txt", versions_text(places));
    bundle.add_text("machine.json", checks_to_json(machine_checks(machine)).dump(2) + "\n");
    bundle.add_ends("agent.log");
    for (int rank = 0; rank < kMostRanks; ++rank) {
        bundle.add_ends("events/" + event_file_name(rank));
        bundle.add_ends("logs/" + log_file_name(rank));
    }
    return bundle.take();
}

fs::path save_diagnostics(const RunDirectory& run, const fs::path& file, const Machine& machine,
                          const Places& places) {
    const fs::path archive = named_as_archive(file);
    const QTemporaryDir scratch;
    if (!scratch.isValid())
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    "no temporary folder can be made: " + scratch.errorString().toStdString());
    const std::string top = "diagnostics-" + run.name();
    const fs::path aside = scratch.path().toStdString();
    for (const BundledFile& bundled : diagnostics_of(run, machine_facts(machine, places), places)) {
        const fs::path target = aside / top / bundled.name;
        make_folder(target.parent_path());
        write_file(target, bundled.text);
    }
    const fs::path made = archive.parent_path() / ("." + archive.filename().string() + ".part");
    run_tar({QStringLiteral("--create"), QStringLiteral("--gzip"), QStringLiteral("--owner=0"),
             QStringLiteral("--group=0"), QStringLiteral("--file"), QString::fromStdString(made.string()),
             QStringLiteral("--force-local"), QStringLiteral("--directory"), scratch.path(),
             QStringLiteral("--"), QString::fromStdString(top)});
    std::error_code problem;
    fs::rename(made, archive, problem);
    if (problem)
        throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be written: " + problem.message(),
                    archive.string());
    return archive;
}

}  // namespace ringmaster
