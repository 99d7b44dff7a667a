#include "launcher/agent/run_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "launcher/agent/say.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

RunState previous_state(const fs::path& run_dir) {
    try {
        return read_run_state(run_dir);
    } catch (const Error& problem) {
        if (problem.failure != Failure::Usage) say(problem.text() + "; it is written anew");
        RunState state;
        state.name = run_dir.filename().string();
        state.created = unix_now();
        return state;
    }
}

bool is_run_by_somebody(const RunState& state) {
    const bool running = state.state == RunPhase::Running || state.state == RunPhase::Stopping;
    return running && state.writer.pid != 0 && is_alive(state.writer);
}

[[noreturn]] void refuse(const fs::path& run_dir, const RunState& state) {
    const std::string who = state.writer.pid == 0 ? "another agent"
                                                  : "process " + std::to_string(state.writer.pid) +
                                                        " on host " + state.writer.host;
    throw Error(
        Failure::Refused, "is run by " + who + " already", run_dir.string(),
        "`ringmaster stop " + state.name + "` ends it; `ringmaster watch " + state.name + "` follows it");
}

/// An agent that has just written the end of its run may hold the lock for another moment. A file system
/// without locks has run.json alone.
bool lock(int file) {
    constexpr int kTries = 40;
    constexpr auto kPause = std::chrono::milliseconds(50);
    for (int i = 0; i < kTries; ++i) {
        if (::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
        std::this_thread::sleep_for(kPause);
    }
    return false;
}

}  // namespace

Descriptor open_agent_log(const fs::path& run_dir) {
    const fs::path file = run_dir / "agent.log";
    std::error_code shown_by_open;
    fs::create_directory(run_dir, shown_by_open);
    // Without O_NONBLOCK a named pipe of that name would hold us up for ever.
    Descriptor log(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
    if (log.get() < 0) {
        throw Error(Failure::Refused, std::string("cannot be written: ") + std::strerror(errno),
                    file.string());
    }
    return log;
}

RunState claim_run(const fs::path& run_dir, const Descriptor& log) {
    const bool locked = lock(log.get());
    RunState previous = previous_state(run_dir);
    if (!locked || is_run_by_somebody(previous)) refuse(run_dir, previous);
    return previous;
}

RunFile::RunFile(const fs::path& run_dir, int ranks)
    : run_dir_(run_dir), reserve_(run_dir / "run.json.reserve") {
    constexpr int64_t kBytes = 32 << 10;
    constexpr int64_t kBytesPerRank = 256;
    const Descriptor file(::open(reserve_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
    if (file.get() < 0 || ::posix_fallocate(file.get(), 0, kBytes + kBytesPerRank * ranks) != 0) {
        say("no room could be set aside for run.json");
    }
}

bool RunFile::free_reserve() {
    std::error_code unknown;
    return fs::remove(reserve_, unknown);
}

void RunFile::write(const RunState& state) {
    try {
        write_run_state(run_dir_, state);
    } catch (const Error&) {
        if (!free_reserve()) throw;
        write_run_state(run_dir_, state);
    }
}

}  // namespace ringmaster
