/// A session of SSH with one machine: connected, its host key checked before anything of ours is sent, logged
/// in. It belongs to one thread, as libssh demands; each script is a channel of its own.
///
/// What runs there is always `sh` with a script on its stdin: no login shell ever reads a name or path of
/// ours, and what it prints by itself comes before a random mark and is told apart.
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
    /// Throws Error(Unreachable), each cause with its own next step: name, refusal, timeout, unknown or
    /// changed key, login with what was tried; Error(Usage) for a malformed configuration.
    SshSession(const SshSettings& settings, const SshPerson& person);
    SshSession(SshSession&&) noexcept;
    SshSession& operator=(SshSession&&) noexcept;
    ~SshSession();

    const SshSettings& settings() const;
    std::string host() const;  ///< as the person named it

    /// Scripts under way end with Error(Unreachable) within a moment once this says so. Asked by the thread
    /// that reads and writes them.
    void give_up_when(std::function<bool()> given_up);

    struct Impl;
    Impl& impl() { return *impl_; }

  private:
    std::unique_ptr<Impl> impl_;
};

/// A script that runs there, with its stdin and stdout.
class RemoteScript {
  public:
    /// Throws Error(Unreachable) where the connection is lost or the login shell does not let it start.
    RemoteScript(SshSession& session, const std::string& script);
    RemoteScript(RemoteScript&&) noexcept;
    ~RemoteScript();  ///< the script's stdin and stdout close; it is not killed

    /// Throws Error(Unreachable) where the connection is lost, or nothing is taken for `patience`. False
    /// where the script has ended and takes no more.
    bool write(std::string_view bytes, std::chrono::milliseconds patience = std::chrono::seconds(60));
    void end_of_input();

    /// Appends what came to `out`, some MiB at most, waiting at most `timeout` for something; false at the
    /// end. Throws Error(Unreachable), also where `out` holds more than 16 MiB that nobody took.
    bool read(std::string& out, std::chrono::milliseconds timeout);

    /// After read() said false. Empty: killed by a signal, or not told.
    std::optional<int> status();
    std::string errors() const;        ///< its stderr so far, the last 16 KiB, without control characters
    const std::string& noise() const;  ///< what the login shell printed before

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

struct ScriptResult {
    int status = -1;
    std::string out, errors, noise;
};

/// Runs it to its end. Throws Error(Unreachable) where nothing comes for `silence`, where it takes ten times
/// as long, and where it says more than 16 MiB.
ScriptResult run_script(SshSession& session, const std::string& script,
                        std::chrono::seconds silence = std::chrono::seconds(30));

/// As run_script; a status other than 0 throws Error(`failure`) with what it wrote to stderr.
std::string script_output(SshSession& session, const std::string& script, const std::string& what,
                          std::chrono::seconds silence = std::chrono::seconds(30));

}  // namespace ringmaster
