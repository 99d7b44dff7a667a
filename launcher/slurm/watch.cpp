#include "launcher/slurm/watch.h"

#include <chrono>

#include "engine/error.h"

namespace ringmaster {

using namespace std::chrono_literals;

namespace {

constexpr auto kPace = 10s;          ///< time between two calls of squeue, unless the user asks for a stop
constexpr auto kLastPatience = 25s;  ///< longest wait for Slurm to say how a job ended
constexpr auto kClosing = 3s;        ///< time for Slurm to clean up before it is asked once more
constexpr auto kGlance = 200ms;

std::string note_of(const JobId& job, const JobStatus& seen) {
    if (seen.waits())
        return "Slurm job " + job.number + " waits" + (seen.reason.empty() ? "" : ": " + seen.reason);
    if (seen.state == "CONFIGURING" || seen.state == "SUSPENDED")
        return "Slurm job " + job.number + " is " + seen.state;
    return "";
}

}  // namespace

SlurmWatch::SlurmWatch(RunDirectory run, std::unique_ptr<SlurmSite> site)
    : run_(std::move(run)), site_(std::move(site)), thread_([this] { watch(); }) {}

SlurmWatch::~SlurmWatch() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

std::string SlurmWatch::note() const {
    const std::lock_guard lock(mutex_);
    return note_;
}

void SlurmWatch::watch() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
        lock.unlock();
        look();
        lock.lock();
        changed_.notify_all();
        const bool was_asked = is_stop_asked(run_);
        const auto next = std::chrono::steady_clock::now() + kPace;
        while (!ending_ && !hurry_ && std::chrono::steady_clock::now() < next &&
               is_stop_asked(run_) == was_asked)
            changed_.wait_for(lock, kGlance);
        hurry_ = false;
    }
}

void SlurmWatch::look() {
    std::string note;
    try {
        const SlurmRecord record = read_slurm_record(run_);
        if (record.settled) return;
        note = note_of(record.job, look_and_settle(*site_, run_));
    } catch (const std::exception& problem) {  // an Error, or invalid JSON: both may be gone at the next try
        note = problem.what();
    }
    const std::lock_guard lock(mutex_);
    note_ = note;
}

bool SlurmWatch::is_really_over(const std::function<bool()>& given_up) {
    if (read_run_state(run_.dir).state == RunPhase::Completed || is_stop_asked(run_)) return true;
    const auto begin = std::chrono::steady_clock::now();
    bool asked = false;
    while (!read_slurm_record(run_).settled && is_over(read_run_state(run_.dir).state) && !given_up() &&
           std::chrono::steady_clock::now() < begin + kLastPatience) {
        std::unique_lock lock(mutex_);
        if (!asked && std::chrono::steady_clock::now() > begin + kClosing) {
            asked = hurry_ = true;
            changed_.notify_all();
        }
        changed_.wait_for(lock, kGlance);
    }
    return is_over(read_run_state(run_.dir).state);
}

}  // namespace ringmaster
