/// Starting one rank: its environment, its files, and a child process that dies with the agent.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launcher/agent/descriptor.h"

namespace ringmaster {

/// A listening socket on a free port of one address (IPv4, as numbers), for rank 0's store. Throws
/// Error(Unreachable).
struct StoreSocket {
    Descriptor listening;
    int port = 0;
};
StoreSocket open_store_socket(const std::string& address = "127.0.0.1");

struct RankPlace {
    int rank = 0;
    int ranks = 1;  ///< of all nodes
    int node = 0;
    int local_rank = 0;
    int local_ranks = 1;  ///< of this node
    std::string store_address = "127.0.0.1";
    std::string interface;  ///< that Gloo and NCCL use; empty: they find one
    int attempt = 1;
    std::string run_name;
    int store_port = 0;
    std::optional<int> store_fd;  ///< rank 0's
    int progress_fd = -1;         ///< the table that it notes its place in
    pid_t agent = 0;
    int cores = 1;  ///< shared by all ranks
};

/// `inherited` ("NAME=value"), with what torchrun sets for a rank and what is ours in place of any of the
/// same name.
std::vector<std::string> rank_environment(const RankPlace& place, const std::vector<std::string>& inherited);

struct RankCommand {
    std::vector<std::string> arguments;  ///< the program first
    std::vector<std::string> environment;
    std::filesystem::path log;  ///< stdout and stderr are appended here
    std::vector<int> kept_fds;  ///< the descriptors beside stdin, stdout and stderr that it inherits
};

/// Starts it as the leader of a process group of its own, killed when this process dies. Throws
/// Error(Refused) where the log cannot be written, Error(Unreachable) where the program cannot be run, each
/// by its name.
pid_t start_rank(const RankCommand& command);

}  // namespace ringmaster
