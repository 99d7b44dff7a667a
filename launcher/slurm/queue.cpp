#include "launcher/slurm/queue.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>

#include "engine/control_characters.h"
#include "engine/error.h"
#include "launcher/slurm/script.h"
#include "launcher/slurm/site.h"

namespace ringmaster {

namespace {

const std::set<std::string> kOver = {"BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE", "FAILED",
                                     "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",  "TIMEOUT"};

/// Replaces control characters, which a terminal would obey, and trims both ends.
std::string plain(std::string text) {
    text = without_controls(std::move(text), ' ', "\n");
    const auto blank = [](char c) { return c == ' ' || c == '\n'; };
    while (!text.empty() && blank(text.back())) text.pop_back();
    while (!text.empty() && blank(text.front())) text.erase(0, 1);
    return text;
}

std::vector<std::string> split(const std::string& line, char mark) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, mark);) fields.push_back(field);
    return fields;
}

/// Returns the first word of a state: CANCELLED for "CANCELLED by 1000" and "CANCELLED+".
std::string state_word(const std::string& text) {
    size_t end = 0;
    while (end < text.size() &&
           (std::isupper(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
        ++end;
    return text.substr(0, end);
}

/// Parses "3:0" into the exit status and the signal.
void take_exit_code(JobStatus& status, const std::string& text) {
    const size_t colon = text.find(':');
    status.exit_status = std::atoi(text.c_str());
    status.exit_signal = colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 1);
}

std::vector<std::string> with_cluster(std::vector<std::string> command, const std::string& cluster) {
    if (!cluster.empty()) command.insert(command.begin() + 1, "--clusters=" + cluster);
    return command;
}

[[noreturn]] void refuse(const SlurmSite& site, const std::string& what, const CommandEnd& end) {
    const std::string words = plain(end.errors.empty() ? end.out : end.errors);
    throw Error(Failure::Unreachable, Code("SLURM-ANSWER"),
                what + ": " + (words.empty() ? "status " + std::to_string(end.status) : words),
                site.host().empty() ? "Slurm" : "Slurm at " + site.host());
}

bool is_unknown_job(const CommandEnd& end) {
    return end.errors.find("Invalid job id") != std::string::npos;
}

}  // namespace

bool JobStatus::waits() const {
    return state == "PENDING" || state.starts_with("REQUEUE") || state == "SPECIAL_EXIT";
}

bool JobStatus::is_over() const {
    return state.empty() || kOver.contains(state);
}

JobId submit(SlurmSite& site, const std::string& script_name) {
    const CommandEnd end = site.run({"sbatch", "--parsable", site.run_dir() + "/" + script_name});
    if (end.status != 0) refuse(site, "the job was not taken", end);
    const JobId job = parse_job_id(end.out);
    if (job.number.empty()) refuse(site, "sbatch did not say the job's number", end);
    return job;
}

void try_submission(SlurmSite& site, const std::string& script) {
    const CommandEnd end = site.run({"sbatch", "--test-only"}, script);
    if (end.status != 0) refuse(site, "the job would not be taken", end);
}

std::map<std::string, JobStatus> look_at(SlurmSite& site, const std::vector<JobId>& jobs) {
    std::map<std::string, std::string> numbers;  // cluster → its job numbers
    for (const JobId& job : jobs)
        numbers[job.cluster] += (numbers[job.cluster].empty() ? "" : ",") + job.number;
    std::map<std::string, JobStatus> found;
    for (const JobId& job : jobs) found[job.number];
    for (const auto& [cluster, list] : numbers) {
        const CommandEnd end = site.run(with_cluster(
            {"squeue", "--noheader", "--states=all", "--jobs=" + list, "--format=%i|%T|%r|%N"}, cluster));
        if (end.status != 0 && !is_unknown_job(end)) refuse(site, "squeue does not answer", end);
        for (const auto& [number, status] : parse_squeue(end.out)) found[number] = status;
    }
    return found;
}

std::optional<JobId> job_of_folder(SlurmSite& site, const std::string& cluster) {
    const CommandEnd end = site.run(with_cluster(
        {"squeue", "--me", "--noheader", "--states=all", "--sort=-i", "--format=%i|%Z"}, cluster));
    if (end.status != 0) refuse(site, "squeue does not answer", end);
    const std::string number = parse_jobs_of_folder(end.out, site.run_dir());
    return number.empty() ? std::nullopt : std::optional(JobId{number, cluster});
}

JobStatus end_of(SlurmSite& site, const JobId& job) {
    const CommandEnd accounted =
        site.run(with_cluster({"sacct", "--jobs=" + job.number, "--allocations", "--noheader", "--parsable2",
                               "--format=JobIDRaw,State,ExitCode,NodeList"},
                              job.cluster));
    JobStatus status = accounted.status == 0 ? parse_sacct(accounted.out) : JobStatus();
    if (!status.state.empty() && status.is_over()) return status;
    const CommandEnd shown =
        site.run(with_cluster({"scontrol", "--oneliner", "show", "job", job.number}, job.cluster));
    status = shown.status == 0 ? parse_scontrol(shown.out) : JobStatus();
    if (!status.state.empty()) return status;
    return parse_job_log(site.read("agent.log").value_or(""));
}

void cancel(SlurmSite& site, const JobId& job) {
    const CommandEnd end = site.run(with_cluster({"scancel", job.number}, job.cluster));
    if (end.status != 0 && !is_unknown_job(end)) refuse(site, "the job cannot be cancelled", end);
}

void signal_ranks(SlurmSite& site, const JobId& job, const std::string& signal) {
    const CommandEnd end =
        site.run(with_cluster({"scancel", "--signal=" + signal, job.number + ".0"}, job.cluster));
    const bool gone = is_unknown_job(end) || end.errors.find("Invalid job step") != std::string::npos ||
                      end.errors.find("already complet") != std::string::npos;
    if (end.status != 0 && !gone) refuse(site, "its ranks cannot be signalled", end);
}

JobId parse_job_id(const std::string& out) {
    const std::string line = plain(out.substr(0, out.find('\n')));
    const size_t mark = line.find(';');
    JobId job{line.substr(0, mark), mark == std::string::npos ? "" : line.substr(mark + 1)};
    const bool number = !job.number.empty() && std::all_of(job.number.begin(), job.number.end(),
                                                           [](char c) { return c >= '0' && c <= '9'; });
    return number ? job : JobId();
}

std::map<std::string, JobStatus> parse_squeue(const std::string& out) {
    std::map<std::string, JobStatus> jobs;
    for (const std::string& line : split(out, '\n')) {
        const std::vector<std::string> fields = split(line, '|');
        if (fields.size() < 3) continue;
        JobStatus& status = jobs[fields[0]];
        status.state = state_word(fields[1]);
        status.reason = fields[2] == "None" ? "" : plain(fields[2]);
        status.nodes = fields.size() > 3 ? plain(fields[3]) : "";
    }
    return jobs;
}

std::string parse_jobs_of_folder(const std::string& out, const std::string& folder) {
    for (const std::string& line : split(out, '\n')) {
        const size_t bar = line.find('|');
        if (bar != std::string::npos && plain(line.substr(bar + 1)) == folder)
            return parse_job_id(line.substr(0, bar)).number;
    }
    return {};
}

/// Takes the last line: a requeued job has one line per start.
JobStatus parse_sacct(const std::string& out) {
    JobStatus status;
    for (const std::string& line : split(out, '\n')) {
        const std::vector<std::string> fields = split(line, '|');
        if (fields.size() < 3) continue;
        status = {state_word(fields[1]), "", fields.size() > 3 ? plain(fields[3]) : ""};
        take_exit_code(status, fields[2]);
    }
    return status;
}

JobStatus parse_scontrol(const std::string& out) {
    JobStatus status;
    for (const std::string& word : split(out, ' ')) {
        const size_t equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : plain(word.substr(equals + 1));
        if (key == "JobState") status.state = state_word(value);
        if (key == "Reason" && value != "None" && status.reason.empty()) status.reason = value;
        if (key == "NodeList" && value != "(null)") status.nodes = value;
        if (key == "ExitCode") take_exit_code(status, value);
    }
    return status;
}

JobStatus parse_job_log(const std::string& log) {
    constexpr std::array<std::pair<const char*, const char*>, 8> kMarks = {{
        {"DUE TO TIME LIMIT", "TIMEOUT"},
        {"DUE TO PREEMPTION", "PREEMPTED"},
        {kPreemptedMark, "PREEMPTED"},
        {"DUE TO NODE FAILURE", "NODE_FAIL"},
        {"oom-kill event", "OUT_OF_MEMORY"},
        {"oom_kill event", "OUT_OF_MEMORY"},
        {"Exceeded job memory limit", "OUT_OF_MEMORY"},
        {"CANCELLED AT", "CANCELLED"},
    }};
    const std::string last = since_last_start(log);
    for (const auto& [mark, state] : kMarks) {
        if (last.find(mark) != std::string::npos) return {state, "", ""};
    }
    return {};
}

}  // namespace ringmaster
