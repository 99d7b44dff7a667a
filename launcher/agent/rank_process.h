/// Starts one rank: its environment, its files, and a child process that dies with the agent.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/descriptor.h"

namespace ringmaster {

/// Holds a listening socket for rank 0's store, on a free port of a numeric IPv4 address. open_store_socket
/// throws Error(Unreachable).
struct StoreSocket {
    Descriptor listening;
    int port = 0;
};
StoreSocket open_store_socket(const std::string& address = "127.0.0.1");

struct RankPlace {
    int rank = 0;
    int ranks = 1;  ///< ranks of all nodes
    int node = 0;
    int local_rank = 0;
    int local_ranks = 1;  ///< number of ranks on this node
    std::string store_address = "127.0.0.1";
    std::string interface;  ///< network interface for Gloo and NCCL; empty: the libraries choose one
    int attempt = 1;
    std::string run_name;
    int store_port = 0;
    std::optional<int> store_fd;  ///< listening socket, for rank 0 only
    int progress_fd = -1;         ///< descriptor of the table in which ranks record their progress
    pid_t agent = 0;
    int cores = 1;  ///< processor cores, shared by all ranks of this node
};

/// Returns `inherited` ("NAME=value") plus the variables that torchrun and Ringmaster set for a rank, which
/// replace inherited ones of the same name.
std::vector<std::string> rank_environment(const RankPlace& place, const std::vector<std::string>& inherited);

struct RankCommand {
    std::vector<std::string> arguments;  ///< program and its arguments
    std::vector<std::string> environment;
    std::filesystem::path log;  ///< file to which stdout and stderr are appended
    std::vector<int> kept_fds;  ///< descriptors that the rank inherits besides stdin, stdout and stderr
};

/// Starts the rank as the leader of its own process group; the kernel kills it when this process dies. Throws
/// Error(Refused) if the log cannot be written and Error(Unreachable) if the program cannot be run; each
/// names the file.
pid_t start_rank(const RankCommand& command);

}  // namespace ringmaster
