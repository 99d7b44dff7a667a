// Stands in for a rank but trains nothing: it writes the events of a run, ends on SIGTERM as the engine does,
// and fails as the environment variable SCRIPT_<rank> tells it to. The variable is a list of words:
//
//   steps=N        completes after N steps (default 3); steps=0: continues until it is asked to stop
//   at=N           does the following when step N is done:
//     exit=N | signal=N | error=TEXT (an error event, then exit status 1; '_' stands for a blank) | hang
//     (ignores SIGTERM) | leave (starts a child that sleeps, then SIGKILL) | quiet (exit 0 without an event)
//   cause=WORD     sets the cause of the error event, such as timeout
//   attempt=N      does what follows at=N in attempt N only
//   peer=R         fails with a lost connection once rank R is gone
//   deaf           does not handle SIGTERM, and so dies of it
//   slow=MS        takes MS milliseconds to save when asked to stop
//   waits=R        reports that it waits for rank R in layer 4, hop 2; other ranks report work in layer 4,
//   hop 1
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/events/process_id.h"
#include "engine/events/progress.h"

namespace {

using namespace ringmaster;

std::atomic<bool> stop_requested{false};

std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

std::map<std::string, std::string> script_of(const std::string& rank) {
    std::map<std::string, std::string> script;
    std::istringstream words(variable("SCRIPT_" + rank));
    for (std::string word; words >> word;) {
        const size_t equals = word.find('=');
        script[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
    }
    return script;
}

class Rank {
  public:
    Rank(std::filesystem::path run, std::string resume)
        : run_(std::move(run)),
          resume_(std::move(resume)),
          rank_(std::stoi(variable("RANK"))),
          script_(script_of(variable("RANK"))),
          events_(run_ / "events", rank_),
          progress_(std::stoi(variable("RINGMASTER_PROGRESS_FD")), std::stoi(variable("LOCAL_RANK"))) {
        ::close(std::stoi(variable("RINGMASTER_PROGRESS_FD")));
    }

    int live() {
        leave_traces();
        HelloEvent hello;
        hello.attempt = std::stoi(variable("RINGMASTER_ATTEMPT"));
        hello.pid = ::getpid();
        events_.write(hello);
        const int64_t last = has("steps") ? number("steps") : 3;
        for (int64_t step = 1; last == 0 || step <= last; ++step) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            note_place(step);
            StepEvent done;
            done.step = step;
            events_.write(done);
            std::printf("step %ld\n", static_cast<long>(step));
            std::fflush(stdout);
            if (has("at") && number("at") == step && (!has("attempt") || number("attempt") == hello.attempt))
                go_wrong();
            if (has("peer") && is_gone(number("peer"))) fail("waiting for keys", cause::kPeerLost);
            if (stop_requested) return stop(step);
        }
        events_.write(DoneEvent{last, "completed"});
        return 0;
    }

  private:
    bool has(const std::string& word) const { return script_.count(word) > 0; }
    int64_t number(const std::string& word) const { return std::stoll(script_.at(word)); }

    /// Returns the address at which the socket `descriptor` listens, or an empty text if it is no listening
    /// socket.
    static std::string listening_address(const std::string& descriptor) {
        int listening = 0;
        socklen_t size = sizeof listening;
        if (descriptor.empty() ||
            ::getsockopt(std::stoi(descriptor), SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 ||
            listening == 0)
            return "";
        sockaddr_in address{};
        size = sizeof address;
        ::getsockname(std::stoi(descriptor), reinterpret_cast<sockaddr*>(&address), &size);
        char text[INET_ADDRSTRLEN] = {};
        return ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    }

    /// Writes the facts that tests check: environment variables, whether the agent is the parent, the address
    /// of the store's socket, the number of other open descriptors, and the checkpoint to resume from.
    void leave_traces() const {
        int open = -1;  // starts at -1 because the events file does not count
        for (int fd = 3; fd < 256; ++fd) open += ::lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
        std::ofstream out(run_ / ("traces-" + std::to_string(rank_)));
        for (const char* name :
             {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "NODE_RANK",
              "MASTER_ADDR", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "RINGMASTER_ATTEMPT",
              "TORCHELASTIC_USE_AGENT_STORE", "OMP_NUM_THREADS"}) {
            out << name << "=" << variable(name) << "\n";
        }
        out << "agent_is_parent=" << (variable("RINGMASTER_AGENT") == std::to_string(::getppid())) << "\n";
        out << "store_listens_at=" << listening_address(variable("RINGMASTER_STORE_FD"))
            << "\nother_descriptors=" << open << "\nresume=" << resume_ << "\n";
    }

    void note_place(int64_t step) {
        progress_.begin(Activity::Training, step);
        progress_.begin_micro_batch(1);
        progress_.enter_layer(Pass::Forward, 4);
        progress_.enter_hop(has("waits") ? 2 : 1);
        if (has("waits"))
            progress_.wait_for({progress_.place(),
                                {Partner::Role::Sender, std::stoi(script_.at("waits")), "keys"},
                                "ring",
                                11});
    }

    [[noreturn]] void fail(const std::string& message, std::string_view cause) {
        events_.write(ErrorEvent{message, "rank " + std::to_string(rank_), "", std::string(cause)});
        std::exit(1);
    }

    bool is_gone(int64_t peer) {
        EventReader reader(run_ / "events" / event_file_name(static_cast<int>(peer)));
        for (const EventLine& line : reader.poll()) {
            if (const auto* hello = std::get_if<HelloEvent>(&line.event)) return !find_process(hello->pid);
        }
        return false;
    }

    void go_wrong() {
        if (has("error")) {
            std::string text = script_.at("error");
            for (char& c : text) c = c == '_' ? ' ' : c;
            fail(text, has("cause") ? script_.at("cause") : "");
        }
        if (has("exit")) {
            std::puts("about to give up\n\nthis is why");
            std::exit(static_cast<int>(number("exit")));
        }
        if (has("signal")) ::raise(static_cast<int>(number("signal")));
        if (has("quiet")) std::_Exit(0);
        if (has("leave")) leave_a_child();
        if (has("hang")) {
            std::signal(SIGTERM, SIG_IGN);
            while (true) ::pause();
        }
    }

    void leave_a_child() {
        const pid_t child = ::fork();
        if (child == 0) {
            while (true) ::pause();
        }
        std::ofstream(run_ / "left-behind") << child << std::endl;
        ::raise(SIGKILL);
    }

    int stop(int64_t step) {
        if (has("slow")) std::this_thread::sleep_for(std::chrono::milliseconds(number("slow")));
        if (rank_ == 0) events_.write(CheckpointEvent{step, "checkpoints/step-" + std::to_string(step), 0.1});
        events_.write(DoneEvent{step, "stopped"});
        return 0;
    }

    std::filesystem::path run_;
    std::string resume_;
    int rank_;
    std::map<std::string, std::string> script_;
    EventWriter events_;
    RankProgress progress_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5 || std::string(argv[1]) != "--run" || std::string(argv[3]) != "--resume") return 2;
    if (script_of(variable("RANK")).count("deaf") == 0) {
        std::signal(SIGTERM, [](int) { stop_requested = true; });
    }
    return Rank(argv[2], argv[4]).live();
}
