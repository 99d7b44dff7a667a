/// What a machine says of itself in a few seconds, before anything of ours is there (tier 1), and what that
/// means for a run.
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

struct NodeGpu {
    int index = 0;
    std::string name;
    int64_t memory_bytes = 0, used_bytes = 0;
    std::vector<std::string> users;  ///< of processes on it
};

struct NodeFacts {
    std::string host_name, boot_id, system, architecture;
    std::string glibc;  ///< "2.36"; empty: another libc, or not told
    int cores = 0;
    int64_t memory_bytes = 0, available_bytes = 0;
    std::string home;
    std::string data_dir;        ///< where ours goes: ${XDG_DATA_HOME:-~/.local/share}/ringmaster
    bool is_writable = false;    ///< data_dir
    bool is_executable = false;  ///< a program in data_dir may run (no `noexec`)
    std::string write_problem;
    bool is_full = false;
    int64_t disk_free_bytes = 0;
    double clock_ahead_s = 0;  ///< of ours
    std::string driver;        ///< NVIDIA's; empty: none is loaded
    std::string driver_cuda;   ///< "13.0": the newest CUDA that it runs; empty: not told
    std::vector<NodeGpu> gpus;
    std::string libtorch;                 ///< folder of the matching LibTorch; empty: none found
    std::string other_libtorch;           ///< "2.9.1 in …", where only others are there
    std::string address;                  ///< at which its sshd was reached
    std::string interface;                ///< that has this address; empty: not told
    std::vector<std::string> infiniband;  ///< its devices
    bool has_sha256sum = false;
    bool has_pip = false;  ///< a Python that can install packages
    std::string noise;     ///< that the login shell prints before every command
};

/// What a program of ours demands of the machine that it is copied to.
struct ProgramNeeds {
    std::string architecture;   ///< as `uname -m` says it
    std::string glibc;          ///< the newest symbol version that it uses
    std::string torch_version;  ///< "2.11.0"
    std::string torch_here;     ///< LibTorch's folder here: on a shared file system it is there, too
};

ProgramNeeds needs_of(const std::string& engine, const std::string& torch_version);

/// Asks. Throws Error(Unreachable) where the connection is lost.
NodeFacts ask_node(SshSession& session, const ProgramNeeds& needs);

/// Of "key value" lines: a number outside its range reads as 0, a path that is none as empty, a text is cut
/// to 1 KiB, and of lists some are kept (1,024 GPUs). Unknown keys are skipped.
NodeFacts parse_facts(const std::string& text);

/// The questions: a script for `sh`, which parse_facts reads the answers of.
std::string facts_script(const ProgramNeeds& needs);

enum class NodeVerdict {
    Ready,
    Warning,      ///< it can train, and something is worth knowing
    Unusable,     ///< reached, and cannot train
    Unreachable,  ///< name, key, login, network
};
const char* to_string(NodeVerdict state);  ///< "ready", …

struct NodeReport {
    std::string host;
    NodeVerdict state = NodeVerdict::Unreachable;
    std::string message;  ///< one sentence
    std::string next;     ///< what to do; empty where it is ready
    std::optional<NodeFacts> facts = {};
    std::vector<std::string> ignored = {};  ///< directives of ~/.ssh/config without effect here
    /// What message and next say, where they are of our own: by its code they are known in other languages.
    NodeFinding finding = {};
    std::string through = {};  ///< the jump host that it is about, where it is not the machine itself
    std::optional<DeepReport> deep = {};  ///< of the last time that it was tried out

    bool can_train() const { return state == NodeVerdict::Ready || state == NodeVerdict::Warning; }
    void found(NodeVerdict state_, const NodeFinding& finding_);  ///< sets message and next too
};

/// "old-driver" if the NVIDIA driver is too old for LibTorch's CUDA; no code if it is new enough or there is
/// none.
NodeFinding what_driver_lacks(const NodeFacts& facts);

/// Where ours goes on a node that has none: a torch/lib in it.
std::string own_libtorch_dir(const NodeFacts& facts, const ProgramNeeds& needs);

/// Nothing but LibTorch keeps it from training.
bool lacks_libtorch(const NodeReport& report);

/// The first thing that keeps it from training, else what is worth knowing.
NodeReport judge_node(const std::string& host, const NodeFacts& facts, const ProgramNeeds& needs);

/// The same of the machine that this program runs on, its GPUs as far as CUDA_VISIBLE_DEVICES leaves them.
/// Never throws for what it finds.
NodeReport check_this_machine(const ProgramNeeds& needs);

/// The contract's fields: host, state, devices, message, next; and `facts`, `finding`, `deep`.
nlohmann::json report_to_json(const NodeReport& report);

/// What it said, with the facts that stand there. Throws nlohmann's exceptions.
NodeReport report_from_json(const nlohmann::json& json);

/// "2.36" before "2.4"? Compared as numbers.
bool is_older(const std::string& version, const std::string& than);

}  // namespace ringmaster
