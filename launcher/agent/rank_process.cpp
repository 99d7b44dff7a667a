#include "launcher/agent/rank_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "engine/error.h"

namespace ringmaster {

namespace {

std::string last_problem() {
    return std::strerror(errno);
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

void reset_signals() {
    for (int signal : {SIGPIPE, SIGCHLD, SIGTERM, SIGINT, SIGUSR1})
        std::signal(signal, SIG_DFL);  // SIGHUP stays ignored
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Turns the child into the rank. Writes errno to `trouble` if the program cannot be run.
[[noreturn]] void become_rank(char* const* arguments, char* const* environment, int log,
                              const std::vector<int>& kept_fds, int trouble, pid_t agent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != agent) ::_exit(EXIT_FAILURE);  // the agent died before prctl
    ::setpgid(0, 0);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    for (const int fd : kept_fds) ::fcntl(fd, F_SETFD, 0);
    reset_signals();
    ::execve(arguments[0], arguments, environment);
    const int problem = errno;
    [[maybe_unused]] const ssize_t told = ::write(trouble, &problem, sizeof problem);
    ::_exit(EXIT_FAILURE);
}

/// Returns errno if the program could not be run, otherwise 0.
int trouble_of(int pipe) {
    int problem = 0;
    ssize_t got = -1;
    do {
        got = ::read(pipe, &problem, sizeof problem);
    } while (got < 0 && errno == EINTR);
    return got == sizeof problem ? problem : 0;
}

}  // namespace

StoreSocket open_store_socket(const std::string& at) {
    StoreSocket store{Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    const bool is_address = ::inet_pton(AF_INET, at.c_str(), &address.sin_addr) == 1;
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (!is_address) errno = EINVAL;
    if (!is_address || store.listening.get() < 0 || ::bind(store.listening.get(), plain, size) != 0 ||
        ::listen(store.listening.get(), SOMAXCONN) != 0 ||
        ::getsockname(store.listening.get(), plain, &size) != 0) {
        throw Error(Failure::Unreachable, Code("RANKS-MEETING"),
                    "no port for the ranks to meet: " + last_problem(), at);
    }
    store.port = ntohs(address.sin_port);
    return store;
}

std::vector<std::string> rank_environment(const RankPlace& place, const std::vector<std::string>& inherited) {
    auto is_set = [&](const std::string& name) {
        return std::any_of(inherited.begin(), inherited.end(),
                           [&](const auto& it) { return it.starts_with(name + "="); });
    };
    const std::string rank = std::to_string(place.rank);
    const std::string ranks = std::to_string(place.ranks);
    std::vector<std::string> own = {"RANK=" + rank,
                                    "WORLD_SIZE=" + ranks,
                                    "LOCAL_RANK=" + std::to_string(place.local_rank),
                                    "LOCAL_WORLD_SIZE=" + std::to_string(place.local_ranks),
                                    "GROUP_RANK=" + std::to_string(place.node),
                                    "NODE_RANK=" + std::to_string(place.node),
                                    "MASTER_ADDR=" + place.store_address,
                                    "MASTER_PORT=" + std::to_string(place.store_port),
                                    "TORCHELASTIC_RUN_ID=" + place.run_name,
                                    "TORCHELASTIC_RESTART_COUNT=0",
                                    "RINGMASTER_ATTEMPT=" + std::to_string(place.attempt),
                                    "RINGMASTER_AGENT=" + std::to_string(place.agent)};
    for (const char* name : {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"}) {
        if (!place.interface.empty() && !is_set(name))
            own.push_back(std::string(name) + "=" + place.interface);
    }
    own.push_back("RINGMASTER_PROGRESS_FD=" + std::to_string(place.progress_fd));
    if (place.store_fd) own.push_back("RINGMASTER_STORE_FD=" + std::to_string(*place.store_fd));
    if (!is_set("OMP_NUM_THREADS")) {
        own.push_back("OMP_NUM_THREADS=" + std::to_string(std::max(1, place.cores / place.local_ranks)));
    }
    // Drops inherited variables that would send the ranks to the store of an outer torchrun or agent.
    std::vector<std::string> dropped = {"TORCHELASTIC_USE_AGENT_STORE", "RINGMASTER_STORE_FD"};
    for (const std::string& entry : own) dropped.push_back(entry.substr(0, entry.find('=')));
    std::vector<std::string> environment;
    for (const std::string& entry : inherited) {
        const std::string name = entry.substr(0, entry.find('='));
        if (std::find(dropped.begin(), dropped.end(), name) == dropped.end()) environment.push_back(entry);
    }
    environment.insert(environment.end(), own.begin(), own.end());
    return environment;
}

pid_t start_rank(const RankCommand& command) {
    const Descriptor log(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (log.get() < 0)
        throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be written: " + last_problem(),
                    command.log.string());
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw Error(Failure::Unreachable, Code("PROGRAM-START"), "no pipe for a rank: " + last_problem());
    const Descriptor trouble(ends[0]);
    Descriptor trouble_in(ends[1]);
    const std::vector<char*> arguments = pointers_to(command.arguments);
    const std::vector<char*> environment = pointers_to(command.environment);
    const pid_t agent = ::getpid();
    const pid_t rank = ::fork();
    if (rank < 0)
        throw Error(Failure::Unreachable, Code("PROGRAM-START"), "no process for a rank: " + last_problem());
    if (rank == 0) {
        become_rank(arguments.data(), environment.data(), log.get(), command.kept_fds, trouble_in.get(),
                    agent);
    }
    trouble_in.close();
    if (const int problem = trouble_of(trouble.get())) {
        ::waitpid(rank, nullptr, 0);
        throw Error(Failure::Unreachable, Code("PROGRAM-START"),
                    std::string("cannot be run: ") + std::strerror(problem), command.arguments[0]);
    }
    return rank;
}

}  // namespace ringmaster
