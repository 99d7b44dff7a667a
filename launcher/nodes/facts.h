/// Collects what a machine reports about itself within seconds, before any of Ringmaster's programs are on it
/// (tier 1), and judges what that means for a run.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "launcher/nodes/deep_report.h"
#include "launcher/ssh/finding.h"
#include "launcher/ssh/session.h"

namespace ringmaster {

/// Largest difference between a node's clock and this machine's, in seconds, that is not reported to the
/// user.
constexpr double kClockTolerance_s = 30;

struct NodeGpu {
    int index = 0;
    std::string name;
    int64_t memory_bytes = 0, used_bytes = 0;
    std::vector<std::string> users;  ///< users with processes on the GPU
    std::string capability = {};     ///< compute capability, "9.0"; empty: unknown
};

struct NodeFacts {
    std::string host_name, boot_id, system, architecture;
    std::string glibc;  ///< "2.36"; empty: another libc, or unknown
    int cores = 0;
    int64_t memory_bytes = 0, available_bytes = 0;
    std::string home;
    /// Folder for Ringmaster's files: ${XDG_DATA_HOME:-~/.local/share}/ringmaster
    std::string data_dir;
    bool is_writable = false;    ///< true: data_dir can be written
    bool is_executable = false;  ///< true: a program in data_dir can run (no `noexec`)
    std::string write_problem;
    bool is_full = false;
    int64_t disk_free_bytes = 0;
    double clock_ahead_s = 0;  ///< seconds by which the node's clock is ahead of this machine's
    std::string driver;        ///< version of the NVIDIA driver; empty: not loaded
    std::string driver_cuda;   ///< newest CUDA that the driver runs, "13.0"; empty: unknown
    std::vector<NodeGpu> gpus;
    std::string libtorch;                 ///< folder of the matching LibTorch; empty: none found
    std::string other_libtorch;           ///< "2.9.1, /opt/…", if only other versions exist
    std::string address;                  ///< address at which the machine's sshd was reached
    std::string interface;                ///< interface with this address; empty: unknown
    std::vector<std::string> infiniband;  ///< names of InfiniBand devices
    bool has_sha256sum = false;
    bool has_pip = false;  ///< true: a Python on the machine can install packages
    std::string noise;     ///< text that the login shell prints before each command
};

/// Lists what Ringmaster's programs need on a machine that they are copied to.
struct ProgramNeeds {
    std::string architecture;   ///< output of `uname -m`
    std::string glibc;          ///< newest glibc symbol version that the engine uses
    std::string torch_version;  ///< "2.11.0"
    std::string torch_here;     ///< LibTorch's folder here, which the machine may share
};

ProgramNeeds needs_of(const std::string& engine, const std::string& torch_version);

/// Asks the machine for its facts. Throws Error(Unreachable) if the connection is lost.
NodeFacts ask_node(SshSession& session, const ProgramNeeds& needs);

/// Parses "key value" lines. A number outside its range becomes 0, an invalid path an empty text; texts are
/// cut to 1 KiB and lists to a limit (1,024 GPUs). Unknown keys are skipped.
NodeFacts parse_facts(const std::string& text);

/// Returns the script for `sh` whose output parse_facts reads.
std::string facts_script(const ProgramNeeds& needs);

enum class NodeVerdict {
    Ready,
    Warning,      ///< can train, but the user should know something
    Unusable,     ///< was reached, but cannot train
    Unreachable,  ///< problem with the name, host key, login or network
};
const char* to_string(NodeVerdict state);  ///< "ready", …

struct NodeReport {
    std::string host;
    NodeVerdict state = NodeVerdict::Unreachable;
    std::string message;  ///< one sentence
    std::string next;     ///< what the user should do next; empty if the machine is ready
    std::optional<NodeFacts> facts = {};
    std::vector<std::string> ignored = {};  ///< directives of ~/.ssh/config that have no effect here
    /// Code of `message` and `next`, by which the app finds their translations; empty if the texts are not
    /// Ringmaster's.
    NodeFinding finding = {};
    std::string through = {};  ///< jump host that the report is about, if it is not the node itself
    std::optional<DeepReport> deep = {};  ///< result of the last test, if any

    bool can_train() const { return state == NodeVerdict::Ready || state == NodeVerdict::Warning; }
    void found(NodeVerdict state_, const NodeFinding& finding_);  ///< also sets message and next
};

/// Returns "old-driver" if the NVIDIA driver is too old for LibTorch's CUDA; no code if it is new enough or
/// missing.
NodeFinding what_driver_lacks(const NodeFacts& facts);

/// Returns "old-gpu" for the first GPU, among the first `count`, that cannot run the engine's kernels; no
/// code if all can.
NodeFinding what_gpus_lack(const NodeFacts& facts, size_t count);

/// Returns the folder where Ringmaster installs LibTorch on a node that has none; it contains torch/lib.
std::string own_libtorch_dir(const NodeFacts& facts, const ProgramNeeds& needs);

/// Returns true if the machine could train if it had LibTorch.
bool lacks_libtorch(const NodeReport& report);

/// Reports the first reason why the machine cannot train, or else the first warning, if there is one.
NodeReport judge_node(const std::string& host, const NodeFacts& facts, const ProgramNeeds& needs);

/// Judges the machine that this program runs on, with the GPUs that CUDA_VISIBLE_DEVICES allows. Reports
/// problems instead of throwing.
NodeReport check_this_machine(const ProgramNeeds& needs);

/// Returns an object with host, state, devices, message, next, `facts`, `finding` and `deep`.
nlohmann::json report_to_json(const NodeReport& report);

/// Reads a report, with the facts that it contains. Throws nlohmann's exceptions.
NodeReport report_from_json(const nlohmann::json& json);

/// Returns true if `version` is lower; compares part by part as numbers, so that 2.4 is older than 2.36.
bool is_older(const std::string& version, const std::string& than);

}  // namespace ringmaster
