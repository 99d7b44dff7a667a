#include "launcher/slurm/script.h"

#include <algorithm>
#include <filesystem>

#include "engine/control_characters.h"
#include "engine/error.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace {

/// Rest of the script, after the #SBATCH lines and variables. The file `stop` exists once the run must stop.
/// A run that resumes from an older checkpoint sets later ones aside at its start. Once it has saved a
/// checkpoint, the newest one therefore belongs to this timeline.
constexpr const char* kBody = R"sh(
echo "$start_mark $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $SLURM_JOB_NODELIST"
cd "$run" || exit
[ -e stop ] && exit 0
if [ ! -x "$engine" ]; then
    echo "$(hostname): $engine is not there: the nodes have to see Ringmaster's programs on a shared file system"
    exit 127
fi
unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR RINGMASTER_AGENT RINGMASTER_STORE_FD
[ "$SLURM_JOB_NUM_NODES" = 1 ] && export MASTER_ADDR=127.0.0.1
threads=${SLURM_CPUS_PER_TASK:-$((SLURM_CPUS_ON_NODE / ranks_per_node))}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((threads > 0 ? threads : 1))}
[ -n "$SLURM_CPUS_PER_TASK" ] && export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then # from the newest checkpoint, if this job saved it, else as at its first start
    for saved in checkpoints/step-*/complete; do [ "$saved" -nt submit.sbatch ] && resume=latest; done
fi
export RINGMASTER_ATTEMPT=$((first_attempt + ${SLURM_RESTART_COUNT:-0}))

# Each step is sent to the trackers that the configuration names; it is no matter of the ranks.
tracker=
if [ -f tracking/settings.json ] && [ -x "$agent" ]; then
    "$agent" --track "$run" --sender node </dev/null >/dev/null 2>&1 &
    tracker=$!
fi
# Webhook and command are told of alerts, and last that the run is over.
alerts=
if [ -f alerts.json ] && [ -x "$agent" ]; then
    "$agent" --alerts "$run" </dev/null >/dev/null 2>&1 &
    alerts=$!
fi

# The warning waits where it comes while a rank still loads its libraries: it would die of it.
srun --mpi=none --kill-on-bad-exit=1 env --block-signal=USR1 "$engine" --run "$run" --resume "$resume"
status=$?
# Warned that the time is nearly over, the ranks have saved and rank 0 says so: back into the queue. So where
# Slurm asked them to make way for another job.
again=
grep -q '"state": "queued"' run.json && again=yes
grep -q '"state": "stopped"' run.json && scontrol show job "$SLURM_JOB_ID" | grep -q 'PreemptTime=[0-9]' && again=yes &&
    echo "$preempted_mark"
if [ $status = 0 ] && [ ! -e stop ] && [ -n "$again" ]; then
    [ -n "$alerts" ] && kill "$alerts" # the next start tells of what comes
    scontrol requeue "$SLURM_JOB_ID" || echo "Slurm did not take job $SLURM_JOB_ID back into its queue"
else # what is left is sent within a minute, before Slurm ends it with the job; a run that is not over by now has failed
    [ -n "$alerts" ] && kill -"$([ -e stop ] && echo TERM || echo USR1)" "$alerts"
    for second in {1..60}; do { kill -0 "$tracker" || kill -0 "$alerts"; } 2>/dev/null && sleep 1; done
fi
exit $status
)sh";

void check_path(const std::string& path) {
    if (has_controls(path) || path.find('\\') != std::string::npos)
        throw Error(Failure::Usage, Code("SLURM-OPTION"),
                    "a backslash or control character in a path cannot be told to Slurm", path,
                    "--runs-dir names another folder");
}

/// Quotes a file name, with %% for %, since Slurm replaces %j and the like.
std::string file_name_quoted(const std::string& path) {
    std::string plain;
    for (char c : path) plain += c == '%' ? std::string("%%") : std::string(1, c);
    return sbatch_quoted(plain);
}

/// Returns a name for squeue to show, with only plain characters: a run's name may contain any.
std::string job_name(const std::string& run_name) {
    constexpr size_t kLongest = 60;
    std::string name = run_name.substr(0, kLongest);
    std::replace_if(
        name.begin(), name.end(),
        [](char c) {
            const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            return !plain && c != '.' && c != '_' && c != '-';
        },
        '_');
    return name;
}

int ranks_per_node(const SlurmSubmission& job) {
    if (job.ranks % job.nodes != 0) {
        throw Error(Failure::Usage, Code("SLURM-OPTION"),
                    std::to_string(job.ranks) + " ranks cannot be spread evenly over " +
                        std::to_string(job.nodes) + " nodes",
                    "--ranks", "--ranks " + std::to_string((job.ranks / job.nodes + 1) * job.nodes));
    }
    const int per_node = job.ranks / job.nodes;
    const auto asked = job.options.tasks_per_node();
    if (asked && *asked != per_node) {
        throw Error(Failure::Usage, Code("SLURM-OPTION"),
                    "ntasks-per-node=" + std::to_string(*asked) + ", while " + std::to_string(job.ranks) +
                        " ranks on " + std::to_string(job.nodes) + " nodes are " + std::to_string(per_node) +
                        " on each",
                    "--slurm");
    }
    return per_node;
}

std::string directive(const std::string& key, const std::string& quoted_value) {
    return "#SBATCH --" + key + (quoted_value.empty() ? "" : "=" + quoted_value) + "\n";
}

std::string agent_next_to(const std::string& engine) {
    return (std::filesystem::path(engine).parent_path() / "ringmaster-agent").string();
}

std::string directives(const SlurmSubmission& job, int per_node) {
    const SlurmOptions& options = job.options;
    std::string text;
    if (!options.value("job-name")) text += directive("job-name", sbatch_quoted(job_name(job.run_name)));
    text += directive("nodes", std::to_string(job.nodes)) + directive("ntasks", std::to_string(job.ranks)) +
            directive("ntasks-per-node", std::to_string(per_node)) +
            directive("output", file_name_quoted(job.run_dir + "/agent.log")) +
            directive("open-mode", "append") +
            directive("signal", "USR1@" + std::to_string(options.warning_s()));
    if (!options.value("no-requeue")) text += directive("requeue", "");
    if (job.device == Device::Cuda && !options.asks_for_gpus())
        text += directive("gres", "gpu:" + std::to_string(per_node));
    for (const auto& [key, value] : options.values) {
        if (key == "nodes" || key == "ntasks-per-node" || key == "signal") continue;
        text += directive(key, value.empty() ? "" : sbatch_quoted(value));
    }
    return text;
}

}  // namespace

std::string sbatch_quoted(const std::string& text) {
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

std::string submit_script(const SlurmSubmission& job) {
    check_path(job.run_dir);
    check_path(job.engine);
    const int per_node = ranks_per_node(job);
    return "#!/bin/bash\n# Trains one run of Ringmaster.\n" + directives(job, per_node) +
           "\nrun=" + shell_quoted(job.run_dir) + "\nengine=" + shell_quoted(job.engine) +
           "\nagent=" + shell_quoted(agent_next_to(job.engine)) +
           "\nranks_per_node=" + std::to_string(per_node) + "\nfirst_attempt=" + std::to_string(job.attempt) +
           "\nresume=" + shell_quoted(job.resume) + "\nstart_mark=" + kStartMark +
           "\npreempted_mark=" + kPreemptedMark + "\n" + kBody;
}

std::string since_last_start(const std::string& log) {
    const size_t start = log.rfind(kStartMark);
    return start == std::string::npos ? log : log.substr(std::min(log.find('\n', start), log.size()));
}

}  // namespace ringmaster
