#include "launcher/slurm/site.h"

#include <QProcess>
#include <fstream>
#include <iterator>

#include "engine/error.h"
#include "launcher/base/files.h"
#include "launcher/nodes/stage.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int kPatience_s = 90;  ///< limit for one command; Slurm's own retry for a minute
constexpr int64_t kTailBytes = 64 << 10;
constexpr int kNoSuchCommand = 127;

[[noreturn]] void say_missing(const std::string& command, const std::string& host) {
    throw Error(Failure::Unreachable, Code("SLURM-MISSING"),
                command + " is not there: this machine does not speak with a Slurm", host,
                host.empty() ? "`--node [user@]LOGIN --slurm …` goes through SSH to a login node"
                             : "name a login node of the cluster");
}

class LocalSite : public SlurmSite {
  public:
    using SlurmSite::SlurmSite;

    std::string host() const override { return ""; }

    CommandEnd run(const std::vector<std::string>& command, const std::string& input) override {
        QStringList arguments;
        for (size_t i = 1; i < command.size(); ++i) arguments << QString::fromStdString(command[i]);
        QProcess process;
        std::error_code none;
        if (fs::is_directory(run_dir(), none)) process.setWorkingDirectory(QString::fromStdString(run_dir()));
        process.start(QString::fromStdString(command[0]), arguments);
        if (!process.waitForStarted()) say_missing(command[0], "");
        process.write(input.data(), static_cast<qint64>(input.size()));
        process.closeWriteChannel();
        if (!process.waitForFinished(kPatience_s * 1000)) {
            process.kill();
            process.waitForFinished();
            throw Error(Failure::Unreachable, Code("SLURM-ANSWER"),
                        command[0] + " has not answered for " + std::to_string(kPatience_s) + " s", "Slurm");
        }
        const bool ended = process.exitStatus() == QProcess::NormalExit;
        return {ended ? process.exitCode() : -1, process.readAllStandardOutput().toStdString(),
                process.readAllStandardError().toStdString()};
    }

    std::optional<std::string> read(const std::string& name) override {
        std::ifstream in(fs::path(run_dir()) / name, std::ios::binary | std::ios::ate);
        if (!in) return std::nullopt;
        in.seekg(std::max<int64_t>(0, static_cast<int64_t>(in.tellg()) - kTailBytes));
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    void write(const std::string& name, const std::string& content) override {
        write_file(fs::path(run_dir()) / name, content);
    }
    void remove(const std::string& name) override {
        std::error_code none;
        fs::remove(fs::path(run_dir()) / name, none);
    }
};

class SshSite : public SlurmSite {
  public:
    SshSite(std::shared_ptr<SshSession> session, const std::string& run_dir)
        : SlurmSite(run_dir), session_(std::move(session)) {}

    std::string host() const override { return session_->host(); }

    CommandEnd run(const std::vector<std::string>& command, const std::string& input) override {
        const std::string script = "PATH=$PATH:/usr/local/bin:/opt/slurm/bin\ncd " + shell_quoted(run_dir()) +
                                   " 2>/dev/null\nprintf %s " + shell_quoted(input) + " | " +
                                   shell_line({{}, command});
        const ScriptResult result = run_script(*session_, script, std::chrono::seconds(kPatience_s));
        if (result.status == kNoSuchCommand) say_missing(command[0], host());
        return {result.status, result.out, result.errors};
    }

    std::optional<std::string> read(const std::string& name) override {
        const ScriptResult result = run_script(
            *session_, "tail -c " + std::to_string(kTailBytes) + " " + shell_quoted(run_dir() + "/" + name));
        return result.status == 0 ? std::optional(result.out) : std::nullopt;
    }
    void write(const std::string& name, const std::string& content) override {
        write_remote_file(*session_, run_dir() + "/" + name, content);
    }
    void remove(const std::string& name) override {
        run_script(*session_, "rm -f " + shell_quoted(run_dir() + "/" + name));
    }

  private:
    std::shared_ptr<SshSession> session_;
};

}  // namespace

std::unique_ptr<SlurmSite> local_site(const fs::path& run_dir) {
    return std::make_unique<LocalSite>(run_dir.string());
}

std::unique_ptr<SlurmSite> ssh_site(std::shared_ptr<SshSession> session, const std::string& run_dir) {
    return std::make_unique<SshSite>(std::move(session), run_dir);
}

}  // namespace ringmaster
