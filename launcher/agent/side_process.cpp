#include "launcher/agent/side_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>

#include "launcher/agent/say.h"

namespace ringmaster {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    return arguments;
}

}  // namespace

void start_side_process(const std::vector<std::string>& words) {
    std::error_code unknown;
    std::vector<std::string> all = {std::filesystem::read_symlink("/proc/self/exe", unknown).string()};
    all.insert(all.end(), words.begin(), words.end());
    const std::vector<char*> arguments = pointers(all);
    const pid_t between = ::fork();
    if (between < 0) return say("no process for " + words.front());
    if (between > 0) {
        ::waitpid(between, nullptr, 0);
        return;
    }
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
}

void become(const std::vector<std::string>& words, int in, int out, bool block_term) {
    const std::vector<char*> arguments = pointers(words);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    ::signal(SIGTERM, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t mask;
    sigemptyset(&mask);
    if (block_term) sigaddset(&mask, SIGTERM);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
}

int open_private_log(const std::filesystem::path& file) {
    return ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

}  // namespace ringmaster
