#include "engine/events/run_claim.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/error.h"
#include "engine/events/process_id.h"
#include "engine/events/process_json.h"
#include "engine/files/text_file.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::chrono::milliseconds kPatience(2000);

struct Holder {
    ProcessId process;
    std::string launcher;
};

fs::path claim_file(const fs::path& run_dir) {
    return run_dir / "claim.json";
}

/// Returns the process that holds the claim; an empty Holder if the file is missing or damaged.
Holder holder_of(const fs::path& run_dir) {
    try {
        const Json json = Json::parse(readable_text(claim_file(run_dir)));
        return {process_from_json(json.at("process")), json.at("launcher")};
    } catch (const nlohmann::json::exception&) {
        return {};
    }
}

[[noreturn]] void refuse(const fs::path& run_dir, const Holder& holder) {
    const std::string who = holder.process.pid == 0 ? "another process"
                                                    : "process " + std::to_string(holder.process.pid) +
                                                          " on host " + holder.process.host;
    const std::string name = fs::absolute(run_dir).lexically_normal().filename().string();
    throw Error(Failure::Refused, Code("RUN-ACTIVE"), "is run by " + who + " already", run_dir.string(),
                "`ringmaster stop " + name + "` ends it; `ringmaster watch " + name + "` follows it");
}

/// Returns true if another process holds the claim. Without file locks, this function can only check
/// processes of this host.
bool is_another(const FileLock& lock, const Holder& holder) {
    if (lock.is_held()) return false;
    return lock.is_held_by_another() ||
           (holder.process.pid != 0 && holder.process.pid != this_process().pid &&
            holder.process.host == this_host() && is_alive(holder.process));
}

}  // namespace

RunClaim::RunClaim(const fs::path& run_dir, const std::string& launcher)
    : lock_(claim_file(run_dir), kPatience) {
    if (!lock_.is_held()) {
        if (const Holder holder = holder_of(run_dir); is_another(lock_, holder)) refuse(run_dir, holder);
    }
    const Json claim = {{"process", to_json(this_process())}, {"launcher", launcher}};
    const std::string text = claim.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    const auto size = static_cast<ssize_t>(text.size());
    // Overwrites the file in place, because the lock belongs to this file and not to its name.
    if (::ftruncate(lock_.descriptor(), 0) != 0 ||
        ::pwrite(lock_.descriptor(), text.data(), text.size(), 0) != size) {
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    std::string("cannot be written: ") + std::strerror(errno), claim_file(run_dir).string());
    }
}

void refuse_other_launcher(const fs::path& run_dir, const std::string& launcher) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (true) {
        const Holder holder = holder_of(run_dir);
        if (holder.process.pid == 0 || holder.launcher == launcher) return;
        const FileLock lock(claim_file(run_dir), std::chrono::milliseconds(0), FileLock::Mode::WithOthers);
        if (!is_another(lock, holder)) return;
        // Rank 0 of this launch may hold the lock before it has written its name.
        if (std::chrono::steady_clock::now() >= end) refuse(run_dir, holder);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

}  // namespace ringmaster
