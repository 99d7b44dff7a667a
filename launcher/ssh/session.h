/// Opens an SSH session with a machine: connects, checks the host key before it sends anything, and logs in.
/// Only one thread may use it, as libssh demands; each script runs in a separate channel.
///
/// Always runs `sh` with a script on its stdin: no login shell ever parses names or paths from Ringmaster.
/// The login shell's output comes before a random mark, which separates it from the script's.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/ssh/prompt.h"
#include "launcher/ssh/settings.h"

namespace ringmaster {

class SshSession {
  public:
    /// Throws Error(Unreachable) with a separate next step for each cause (name, refusal, timeout, unknown or
    /// changed key, login with the methods tried), or Error(Usage) for a malformed configuration.
    SshSession(const SshSettings& settings, const SshPerson& person);
    SshSession(SshSession&&) noexcept;
    ~SshSession();

    std::string host() const;  ///< name given by the user

    /// Scripts poll `given_up` and soon end with Error(Unreachable) after it returns true. It is called on
    /// the thread that reads and writes the script.
    void give_up_when(std::function<bool()> given_up);

    struct Impl;
    Impl& impl() { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

/// A script running on the machine, with its stdin and stdout.
class RemoteScript {
  public:
    /// Starts the script. Throws Error(Unreachable) if the connection is lost or the login shell does not run
    /// the script.
    RemoteScript(SshSession& session, const std::string& script);
    RemoteScript(RemoteScript&&) noexcept;
    ~RemoteScript();  ///< closes stdin and stdout, but does not kill the script

    /// Writes to the script's stdin. Returns false if the script has ended. Throws Error(Unreachable) if the
    /// connection is lost or the script accepts nothing for `patience`.
    bool write(std::string_view bytes, std::chrono::milliseconds patience = std::chrono::seconds(60));
    void end_of_input();

    /// Appends new output to `out`, a few MiB at most, and waits at most `timeout` for some; false at the
    /// end. Throws Error(Unreachable), also if `out` already holds more than 16 MiB.
    bool read(std::string& out, std::chrono::milliseconds timeout);

    /// Returns the exit status after read() returned false; nullopt: killed by a signal, or unknown.
    std::optional<int> status();
    std::string errors() const;        ///< last 16 KiB of stderr, without control characters
    const std::string& noise() const;  ///< output of the login shell before the script

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

struct ScriptResult {
    int status = -1;
    std::string out, errors, noise;
};

/// Runs a script to its end. Throws Error(Unreachable) if it is silent for `silence`, runs ten times as long,
/// or prints more than 16 MiB.
ScriptResult run_script(SshSession& session, const std::string& script,
                        std::chrono::seconds silence = std::chrono::seconds(30));

/// Returns a script's stdout. For a status other than 0, throws Error with `what` and its stderr.
std::string script_output(SshSession& session, const std::string& script, const std::string& what,
                          std::chrono::seconds silence = std::chrono::seconds(30));

}  // namespace ringmaster
