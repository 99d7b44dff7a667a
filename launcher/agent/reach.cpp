#include "launcher/agent/reach.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "engine/files/text_file.h"
#include "launcher/agent/descriptor.h"
#include "launcher/agent/fleet.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr int kLooksPerBeat = 10;
constexpr size_t kPiece = 1 << 20;

struct FollowOptions {
    fs::path run_dir;
    int node = 0, first_rank = 0, ranks = 0;
    std::map<std::string, int64_t> have;
};

FollowOptions follow_options(const Arguments& given) {
    const auto number = [&](const char* option) {
        return static_cast<int>(given.whole(option, 0).value_or(0));
    };
    FollowOptions options{
        given.text("--follow"), number("--node"), number("--first-rank"), number("--ranks"), {}};
    for (const std::string& part : given.all("--have")) {
        const size_t equals = part.rfind('=');
        if (equals != std::string::npos)
            options.have[part.substr(0, equals)] = std::atoll(part.c_str() + equals + 1);
    }
    std::error_code unknown;
    if (!fs::is_directory(options.run_dir, unknown))
        throw Error(Failure::Unreachable, Code("RUN-MISSING"), "there is no run here any more",
                    options.run_dir.string());
    return options;
}

/// Writes to stdout. Returns false if nobody reads.
bool put(const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
        const ssize_t count = ::write(STDOUT_FILENO, bytes.data() + done, bytes.size() - done);
        if (count <= 0) return false;
        done += static_cast<size_t>(count);
    }
    return true;
}

/// Returns bytes of a file from an offset on, at most kPiece.
std::string bytes_from(const fs::path& file, int64_t offset) {
    const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    std::string bytes(kPiece, '\0');
    const ssize_t got = in.get() < 0 ? -1 : ::pread(in.get(), bytes.data(), bytes.size(), offset);
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return bytes;
}

constexpr const char* kSamples = "samples.jsonl";

class Follower {
  public:
    explicit Follower(FollowOptions options) : options_(std::move(options)) {
        const std::string own = options_.node == 0 ? "" : "node-" + std::to_string(options_.node) + "/";
        state_dir_ = options_.run_dir / own;
        files_.push_back(own + "agent.log");
        for (int rank = options_.first_rank; rank < options_.first_rank + options_.ranks; ++rank) {
            files_.push_back("events/" + event_file_name(rank));
            files_.push_back("logs/" + log_file_name(rank));
        }
        // an older launcher does not name this file, and would reject it
        if (options_.have.contains(kSamples)) files_.emplace_back(kSamples);
    }

    int run() {
        for (int64_t look = 0;; ++look) {
            const bool was_over = over_;
            if (!send_state()) return 0;
            bool some = false;
            for (const std::string& file : files_) {
                if (!send_file(file, some)) return 0;
            }
            if (was_over && !some) return put("over\n") ? 0 : 1;
            if (look % kLooksPerBeat == 0 && !put("beat\n")) return 0;
            if (!some) std::this_thread::sleep_for(kLook);
        }
    }

  private:
    bool send_file(const std::string& file, bool& some) {
        int64_t& offset = options_.have[file];
        const std::string bytes = bytes_from(options_.run_dir / file, offset);
        if (bytes.empty()) return true;
        some = true;
        const std::string head =
            "file " + file + " " + std::to_string(offset) + " " + std::to_string(bytes.size()) + "\n";
        offset += static_cast<int64_t>(bytes.size());
        return put(head + bytes);
    }

    /// Sends run.json corrected by the rules of read_run_state: a run whose agent is gone has failed.
    bool send_state() {
        RunState state;
        std::string text;
        try {
            state = read_run_state(state_dir_);
            nlohmann::ordered_json json =
                nlohmann::ordered_json::parse(readable_text(state_dir_ / "run.json"));
            json["state"] = to_string(state.state);
            json["reason"] = state.reason;
            json["why"] = nlohmann::ordered_json::parse(run_state_text(state)).at("why");
            json["code"] = state.code;
            json["failed_rank"] = state.failed_rank;
            json["ended"] = state.ended;
            text = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
        } catch (const std::exception&) {
            return true;  // run.json is not there yet
        }
        over_ = is_over(state.state);
        if (text == sent_) return true;
        sent_ = text;
        return put("state " + std::to_string(text.size()) + "\n" + text);
    }

    FollowOptions options_;
    fs::path state_dir_;
    std::vector<std::string> files_;
    std::string sent_;
    bool over_ = false;
};

}  // namespace

int follow_run(const Arguments& given) {
    ::signal(SIGPIPE, SIG_IGN);
    return Follower(follow_options(given)).run();
}

int stop_run(const Arguments& given) {
    const std::string run_dir = given.text("--stop");
    const RunState state = read_run_state(run_dir);
    if (is_over(state.state)) return std::puts("over") < 0;
    if (state.nodes.empty())
        throw Error(Failure::Refused, Code("RUN-NOT-STARTED"), "has not been started", run_dir);
    const ProcessId& agent = state.nodes.front().agent;
    if (agent.host != this_host())
        throw Error(Failure::Unreachable, Code("RUN-ELSEWHERE"), "its agent is on host " + agent.host,
                    run_dir);
    if (is_alive(agent)) ::kill(static_cast<pid_t>(agent.pid), given.has("--now") ? SIGUSR1 : SIGTERM);
    return std::puts("asked") < 0;
}

int tell_interface(const Arguments& given) {
    const std::string target = given.text("--towards");
    const std::string address = address_towards(target), name = interface_of(address);
    if (name.empty())
        throw Error(Failure::Unreachable, Code("NODE-MEETING"), "no network interface leads there", target);
    return std::printf("interface %s %s\n", name.c_str(), address.c_str()) < 0;
}

}  // namespace ringmaster
