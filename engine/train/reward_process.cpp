#include "engine/train/reward_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/error.h"

extern char** environ;

namespace ringmaster {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr size_t kLongestNote = 1 << 16;  ///< bytes of an answer without the rewards
constexpr size_t kBytesOfReward = 40;     ///< bytes of a number in JSON, with its comma
constexpr size_t kShown = 2000;           ///< bytes of the process's text that an error quotes
constexpr char kHint[] = "the function's own output is in the log of rank 0";

constexpr char kCode[] = "REWARD-FUNCTION";

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& hint,
                         const char* code = kCode) {
    throw Error(Failure::Refused, Code(code), what, where, hint);
}

std::string text_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>().substr(0, kShown) : "";
}

json parsed(const std::string& line) {
    return json::parse(line, nullptr, /*allow_exceptions=*/false);
}

/// Starts the program with the socket as its input and output. The program leads a process group, so that all
/// processes that it starts can be ended together.
pid_t start(const std::vector<std::string>& words, int socket) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t settings;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&settings);
    posix_spawn_file_actions_adddup2(&files, socket, 0);
    posix_spawn_file_actions_adddup2(&files, socket, 1);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&settings, &none);
    posix_spawnattr_setpgroup(&settings, 0);
    posix_spawnattr_setflags(&settings, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    pid_t process = -1;
    const int problem = posix_spawn(&process, arguments[0], &files, &settings, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&settings);
    if (problem != 0) refuse(std::string("cannot be started: ") + std::strerror(problem), words[0], "");
    return process;
}

}  // namespace

RewardProcess::RewardProcess(RewardCommand command) : command_(std::move(command)) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        refuse(std::string("no socket: ") + std::strerror(errno), "reward functions", "");
    socket_ = ends[0];
    fcntl(socket_, F_SETFL, O_NONBLOCK);
    try {
        process_ = start(command_.words, ends[1]);
    } catch (...) {
        close(ends[1]);
        close(socket_);
        throw;
    }
    close(ends[1]);
    try {
        const json ready = parsed(*receive(kLongestNote, of_functions()));
        if (!ready.is_object() || ready.value("ready", json()) != json(command_.functions))
            fail(of_functions(), "the process did not name the functions that were asked for");
    } catch (...) {
        end();
        throw;
    }
}

RewardProcess::~RewardProcess() {
    end();
}

void RewardProcess::end() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    if (process_ <= 0) return;
    kill(-process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
}

AnswerRules RewardProcess::of_functions() const {
    return {command_.code, command_.whom, kHint, command_.patience, command_.functions.size()};
}

void RewardProcess::fail(const AnswerRules& rules, const std::string& what, const std::string& advice) {
    refuse(what, running_.empty() ? rules.whom : "reward function " + running_, advice + rules.hint,
           rules.code);
}

namespace {

/// Waits until the socket can be used. Returns false after the deadline.
bool waits(int socket, short for_what, Clock::time_point deadline) {
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd one{socket, for_what, 0};
        const int ready = poll(&one, 1, static_cast<int>(left));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

}  // namespace

void RewardProcess::send(const std::string& line, const AnswerRules& rules) {
    const Clock::time_point deadline = Clock::now() + rules.patience;
    for (size_t sent = 0; sent < line.size();) {
        if (!waits(socket_, POLLOUT, deadline)) fail(rules, "the process does not read what it is asked");
        const ssize_t more = ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (more > 0) sent += static_cast<size_t>(more);
        if (more < 0 && errno != EAGAIN && errno != EINTR) fail(rules, "the process has ended");
    }
}

/// Waits for bytes and receives them. If a stop may be requested, waits at most 200 ms. Returns whether a
/// complete line has arrived.
bool RewardProcess::takes_bytes(size_t longest, const AnswerRules& rules, Clock::time_point deadline) {
    if (pending_.find('\n') != std::string::npos) return true;
    if (pending_.size() > longest) fail(rules, "the answer is longer than an answer can be");
    const Clock::time_point turn = Clock::now() + std::chrono::milliseconds(200);
    if (!waits(socket_, POLLIN, rules.stops ? std::min(turn, deadline) : deadline)) {
        if (Clock::now() < deadline) return false;
        fail(rules, "did not answer within " + std::to_string(rules.patience.count() / 1000) + " s",
             running_.empty() ? "" : "make it faster; ");
    }
    char bytes[1 << 14];
    const ssize_t got = recv(socket_, bytes, sizeof bytes, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        fail(rules, "the process ended while it was asked");
    if (got > 0) pending_.append(bytes, static_cast<size_t>(got));
    return pending_.find('\n') != std::string::npos;
}

namespace {

void say_waiting(const json& waiting, const AnswerRules& rules) {
    const auto number = [&](const char* key) {
        const bool is_there =
            waiting.is_object() && waiting.contains(key) && waiting[key].is_number_integer();
        return is_there ? waiting[key].get<int64_t>() : 0;
    };
    if (rules.waits) rules.waits(number("seconds"), number("timeout"));
}

}  // namespace

/// Returns the next line that is not a note. Notes are progress lines of the Python program, warnings,
/// {"waiting": {"seconds", "timeout"}}, and {"running": name}, which restarts the timeout, once for each
/// function.
std::optional<std::string> RewardProcess::receive(size_t longest, const AnswerRules& rules) {
    Clock::time_point deadline = Clock::now() + rules.patience;
    size_t begun = 0;
    bool warned = false;
    for (;;) {
        if (!takes_bytes(longest, rules, deadline)) {
            if ((warned || rules.stops_at_once) && rules.stops && rules.stops()) return std::nullopt;
            continue;
        }
        const size_t newline = pending_.find('\n');
        std::string line = pending_.substr(0, newline);
        pending_.erase(0, newline + 1);
        if (line.size() > longest) fail(rules, "the answer is longer than an answer can be");
        const json note = parsed(line);
        if (!note.is_object()) fail(rules, "the answer is not what the protocol allows");
        if (note.contains("error"))
            refuse(text_at(note, "error"), text_at(note, "where"), text_at(note, "hint"), rules.code);
        if (note.contains("warning")) {
            warned = true;
            if (rules.warn) rules.warn(text_at(note, "warning"));
        }
        if (note.contains("waiting")) say_waiting(note["waiting"], rules);
        if (note.contains("phase") || note.contains("warning") || note.contains("waiting")) continue;
        if (!note.contains("running")) return line;
        running_ = text_at(note, "running");
        if (++begun <= rules.functions) deadline = Clock::now() + rules.patience;
    }
}

std::optional<std::string> RewardProcess::ask(const std::string& line, size_t longest,
                                              const AnswerRules& rules) {
    send(line, rules);
    return receive(longest, rules);
}

Rewards RewardProcess::judge(int64_t step, const std::vector<CompletionToScore>& completions) {
    json asked{{"step", step}, {"prompts", json::array()}, {"completions", json::array()}};
    for (const CompletionToScore& completion : completions) {
        asked["prompts"].push_back(completion.prompt);
        asked["completions"].push_back(completion.ids);
    }
    const size_t numbers = completions.size() * command_.functions.size();
    const std::string line =
        *ask(asked.dump() + "\n", kLongestNote + kBytesOfReward * numbers, of_functions());
    running_.clear();
    return rewards_in(line, command_.functions, completions.size());
}

Rewards rewards_in(const std::string& line, const std::vector<std::string>& functions, size_t count) {
    const json answer = parsed(line);
    const json lists = answer.is_object() ? answer.value("rewards", json()) : json();
    if (!lists.is_array() || lists.size() != functions.size())
        refuse("the answer does not hold a list of rewards for each function", "reward functions", kHint);
    Rewards rewards(count);
    for (size_t f = 0; f < functions.size(); ++f) {
        const std::string where = "reward function " + functions[f];
        if (!lists[f].is_array() || lists[f].size() != count)
            refuse("the answer does not hold " + std::to_string(count) + " rewards", where, kHint);
        for (size_t i = 0; i < count; ++i) {
            const json& value = lists[f][i];
            const bool finite = value.is_number() && std::isfinite(value.get<double>());
            if (!finite && !value.is_null())
                refuse("the reward of completion " + std::to_string(i + 1) + " is no finite number", where,
                       kHint);
            rewards[i].push_back(finite ? std::optional(value.get<double>()) : std::nullopt);
        }
    }
    return rewards;
}

}  // namespace ringmaster
