// Runs one fuzz target without libFuzzer: its corpus, then seeded mutations of it.
//
//   yaml_fuzz --corpus DIR [--dictionary FILE] [--seconds S] [--inputs N] [--seed N] [--memory-mib N]
//   yaml_fuzz FILE…          runs only these inputs
//
// It fails if an input crashes, takes more than a second of processor time or never returns, and if the
// process's memory grows by more than --memory-mib (512). It then leaves the input in the working directory
// as crash-…, slow-…, hang-… or memory-…; run that file alone to repeat the failure. At the end it prints the
// number of inputs, seconds, the slowest input and the growth of memory. --memory-mib 0 turns off the limits
// of time and memory, for sanitizer builds, whose overhead would hide the parser's.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "tests/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kMutated = 8 << 10;  ///< bytes; a longer input of the corpus is run without mutations
constexpr double kSlow_s = 1;         ///< processor seconds
constexpr double kHang_s = 120;       ///< wall seconds; the machine may be busy with other work

struct Options {
    fs::path corpus, dictionary;
    double seconds = 0;
    long inputs = 0;
    unsigned long seed = 1;
    long memory_mib = 512;
    std::vector<fs::path> files;
};

// The signal handler and the watchdog read these.
const char* g_input = nullptr;
size_t g_size = 0;
std::atomic<double> g_began{0};
char g_name[64] = "";

double now_s() {
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double processor_s() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

long peak_kib() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

void put(const char* text) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

/// Writes the input to a file. Calls only what a signal handler may call.
void keep_input(const char* why) {
    char file[128] = "";
    std::strcat(std::strcat(std::strcat(file, why), "-"), g_name);
    const int out = ::open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out >= 0 && g_input != nullptr) {
        [[maybe_unused]] const ssize_t written = ::write(out, g_input, g_size);
        ::close(out);
    }
    put("\nthe input is in ");
    put(file);
    put("\n");
}

#ifdef __SANITIZE_ADDRESS__
void keep_input_of_a_crash() {
    __sanitizer_set_death_callback([] { keep_input("crash"); });
}
#else
void on_crash(int signal) {
    keep_input("crash");
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void keep_input_of_a_crash() {
    for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_crash);
}
#endif

[[noreturn]] void fail(const char* why) {
    keep_input(why);
    ::_exit(1);
}

long resident_kib() {
    long pages = 0, resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return resident * (::sysconf(_SC_PAGESIZE) >> 10);
}

/// Ends the process if an input hangs, or if the process's memory exceeds `most_kib`, before the machine runs
/// out of memory.
void watch(const std::stop_token& stop, long most_kib) {
    while (!stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const double began = g_began;
        if (began > 0 && now_s() - began > kHang_s) fail("hang");
        if (resident_kib() > most_kib) fail("memory");
    }
}

class Runs {
  public:
    explicit Runs(long memory_mib) : measures_(memory_mib > 0), first_kib_(peak_kib()) {
        most_kib_ = first_kib_ + (memory_mib << 10);
        if (measures_) watchdog_ = std::jthread(watch, most_kib_);
    }

    void run(const std::string& input) {
        // The copy has exactly the input's size, so that a sanitizer sees reads past its end.
        const std::vector<uint8_t> data(input.begin(), input.end());
        g_input = reinterpret_cast<const char*>(data.data());
        g_size = data.size();
        const double before = processor_s();
        g_began = now_s();
        LLVMFuzzerTestOneInput(data.data(), data.size());
        g_began = 0;
        const double took = processor_s() - before;
        ++count_;
        slowest_s_ = std::max(slowest_s_, took);
        if (measures_ && took > kSlow_s) fail("slow");
        if (measures_ && peak_kib() > most_kib_) fail("memory");
        g_input = nullptr;
    }

    long count() const { return count_; }
    void tell(double seconds) const {
        std::printf("%s: %ld inputs in %.1f s, the slowest %.3f s, memory grew by %ld MiB\n", g_name, count_,
                    seconds, slowest_s_, (peak_kib() - first_kib_) >> 10);
    }

  private:
    bool measures_;
    long first_kib_, most_kib_ = 0;
    long count_ = 0;
    double slowest_s_ = 0;
    std::jthread watchdog_;
};

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        std::fprintf(stderr, "%s cannot be read\n", file.c_str());
        std::exit(2);
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> contents_of(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> texts;
    for (const fs::path& file : files) texts.push_back(content(file));
    return texts;
}

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (!word.starts_with("--")) {
            options.files.emplace_back(word);
            continue;
        }
        if (++i == argc) break;
        const std::string value = argv[i];
        if (word == "--corpus") options.corpus = value;
        if (word == "--dictionary") options.dictionary = value;
        if (word == "--seconds") options.seconds = std::stod(value);
        if (word == "--inputs") options.inputs = std::stol(value);
        if (word == "--seed") options.seed = std::stoul(value);
        if (word == "--memory-mib") options.memory_mib = std::stol(value);
    }
    return options;
}

int run(int argc, char** argv) {
    const Options options = options_of(argc, argv);
    std::strncpy(g_name, fs::path(argv[0]).filename().c_str(), sizeof g_name - 1);
    keep_input_of_a_crash();
    LLVMFuzzerTestOneInput(nullptr, 0);  // memory that a target allocates once does not count as growth
    Runs runs(options.memory_mib);
    for (const fs::path& file : options.files) runs.run(content(file));
    const double began = now_s();
    if (!options.corpus.empty()) {
        std::vector<std::string> corpus = contents_of(options.corpus);
        for (const std::string& input : corpus) runs.run(input);
        std::erase_if(corpus, [](const std::string& input) { return input.size() > kMutated; });
        if (corpus.empty()) {
            std::fprintf(stderr, "%s holds no input to mutate\n", options.corpus.c_str());
            return 2;
        }
        std::vector<std::string> words;
        if (!options.dictionary.empty()) words = ringmaster::fuzz::read_dictionary(options.dictionary);
        ringmaster::fuzz::Mutator mutator(std::move(corpus), std::move(words), options.seed);
        while (runs.count() < options.inputs || now_s() - began < options.seconds) runs.run(mutator.next());
    }
    runs.tell(now_s() - began);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::runtime_error& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 2;
    }
}
