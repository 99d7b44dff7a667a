#include "launcher/agent/run_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

}  // namespace

Descriptor open_agent_log(const fs::path& run_dir) {
    const fs::path file = run_dir / "agent.log";
    std::error_code shown_by_open;
    fs::create_directory(run_dir, shown_by_open);
    // Without O_NONBLOCK a named pipe of that name would block the agent forever.
    Descriptor log(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
    if (log.get() < 0) {
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    std::string("cannot be written: ") + std::strerror(errno), file.string());
    }
    return log;
}

RunState take_over_run(const fs::path& run_dir) {
    const RunState previous = previous_state(run_dir);
    if (!is_run_by_somebody(previous)) return previous;
    throw Error(Failure::Refused, Code("RUN-ACTIVE"),
                "is run by process " + std::to_string(previous.writer.pid) + " on host " +
                    previous.writer.host + " already",
                run_dir.string(),
                "`ringmaster stop " + previous.name + "` ends it; `ringmaster watch " + previous.name +
                    "` follows it");
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
