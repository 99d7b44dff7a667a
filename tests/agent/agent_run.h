/// Runs a real ringmaster-agent, with scripted ranks (scripted_rank.cpp) under it, on a run directory.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "engine/bare_texts.h"
#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/events/run_state.h"

namespace ringmaster {

inline std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Polls until `is_so` returns true. Fails the test after a minute, which only a hang reaches.
inline void wait_until(const std::string& what, const std::function<bool()>& is_so) {
    constexpr auto kPause = std::chrono::milliseconds(5);
    constexpr int kTries = 12'000;
    for (int i = 0; i < kTries; ++i) {
        if (is_so()) return;
        std::this_thread::sleep_for(kPause);
    }
    FAIL() << "waited in vain for " << what;
}

struct Ended {
    int status = -1;   ///< exit status, or 128 + signal
    std::string said;  ///< stderr
};

class AgentRun : public testing::Test {
  protected:
    AgentRun() {
        std::string pattern = (std::filesystem::temp_directory_path() / "agent-XXXXXX").string();
        base_ = ::mkdtemp(pattern.data());
        run_ = base_ / "tiny";
        std::filesystem::create_directory(run_);
    }
    ~AgentRun() override {
        for (pid_t agent : started_) {
            ::kill(agent, SIGKILL);
            ::waitpid(agent, nullptr, 0);
        }
        std::filesystem::remove_all(base_);
    }

    void start_over() const {
        for (const auto& entry : std::filesystem::directory_iterator(run_))
            std::filesystem::remove_all(entry.path());
    }

    /// Sets what ranks 0, 1, … do, in the language of scripted_rank.cpp.
    void script(const std::vector<std::string>& words) {
        for (size_t i = 0; i < words.size(); ++i)
            environment_.push_back("SCRIPT_" + std::to_string(i) + "=" + words[i]);
    }

    std::vector<std::string> agent_arguments(int ranks) const {
        const char* agent = bare_texts ? BARE_AGENT : AGENT_PROGRAM;
        return {agent, "--run", run_, "--ranks", std::to_string(ranks), "--engine", SCRIPTED_RANK};
    }

    [[noreturn]] void become(const std::vector<std::string>& arguments) const {
        for (const std::string& entry : environment_) ::putenv(const_cast<char*>(entry.c_str()));
        std::vector<char*> pointers;
        for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
        pointers.push_back(nullptr);
        ::execv(pointers[0], pointers.data());
        ::_exit(127);
    }

    pid_t start(const std::vector<std::string>& arguments, bool leads_a_group = false) {
        const pid_t agent = ::fork();
        if (agent == 0) {
            if (leads_a_group) ::setpgid(0, 0);
            ::dup2(::open(stderr_file().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
                   STDERR_FILENO);
            become(arguments);
        }
        started_.push_back(agent);
        return agent;
    }
    pid_t start(int ranks) { return start(agent_arguments(ranks)); }

    Ended wait_for(pid_t agent) {
        int status = 0;
        EXPECT_EQ(::waitpid(agent, &status, 0), agent);
        std::erase(started_, agent);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(stderr_file())};
    }
    Ended ended(const std::vector<std::string>& arguments) { return wait_for(start(arguments)); }
    Ended ended(int ranks) { return wait_for(start(ranks)); }

    std::filesystem::path stderr_file() const { return base_ / "stderr"; }
    RunState state() const { return read_run_state(run_); }

    int64_t steps_of(int rank) const {
        int64_t step = 0;
        EventReader reader(run_ / "events" / event_file_name(rank));
        for (auto lines = reader.poll(); !lines.empty(); lines = reader.poll()) {
            for (const EventLine& line : lines) {
                if (const auto* event = std::get_if<StepEvent>(&line.event)) step = event->step;
            }
        }
        return step;
    }

    /// Waits until every rank has done a step and run.json lists them all.
    void wait_until_training(int ranks) {
        wait_until("the ranks in run.json", [&] {
            try {
                return state().nodes.at(0).ranks.size() == static_cast<size_t>(ranks);
            } catch (const Error&) {
                return false;
            }
        });
        for (int rank = 0; rank < ranks; ++rank) {
            wait_until("a step of rank " + std::to_string(rank), [&] { return steps_of(rank) > 0; });
        }
    }

    static bool are_gone(const RunState& state) {
        for (const NodeState& node : state.nodes) {
            for (const RankProcess& rank : node.ranks) {
                if (is_alive(rank.process)) return false;
            }
        }
        return true;
    }

    std::filesystem::path base_, run_;
    std::vector<std::string> environment_;
    std::vector<pid_t> started_;
};

}  // namespace ringmaster
