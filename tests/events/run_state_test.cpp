#include "engine/events/run_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/bounded_json.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

class RunJson : public testing::Test {
  protected:
    RunJson() {
        std::string pattern = (fs::temp_directory_path() / "run-XXXXXX").string();
        dir_ = ::mkdtemp(pattern.data());
    }
    ~RunJson() override { fs::remove_all(dir_); }

    std::string text() const {
        std::ifstream in(dir_ / "run.json");
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void put(const std::string& content) const { std::ofstream(dir_ / "run.json") << content; }
    std::pair<Failure, std::string> refusal() const {
        try {
            read_run_state(dir_);
        } catch (const Error& error) {
            return {error.failure, error.text()};
        }
        return {Failure::Unreachable, "nothing was refused"};
    }

    fs::path dir_;
};

RunState a_run() {
    RunState state;
    state.name = "tiny";
    state.state = RunPhase::Running;
    state.reason = "two\nlines";
    state.attempt = 2;
    state.ranks = 2;
    state.created = 1779283746.25;
    state.started = 1779283750.5;
    state.updated = 1779283751;
    state.writer = this_process();
    state.nodes = {{state.writer.host, state.writer, {{0, state.writer}, {1, state.writer}}}};
    return state;
}

/// Returns the id of a process that has ended.
ProcessId ended_process() {
    int gate[2];
    if (::pipe(gate) != 0) std::abort();
    const pid_t pid = ::fork();
    if (pid == 0) {
        char byte = 0;
        ::close(gate[1]);
        ::_exit(::read(gate[0], &byte, 1) == 0 ? 0 : 1);
    }
    const ProcessId process = find_process(pid).value();
    ::close(gate[1]);
    ::close(gate[0]);
    ::waitpid(pid, nullptr, 0);
    return process;
}

TEST_F(RunJson, HasThePartsOfAReasonWhateverTheirWords) {
    RunState state = a_run();
    give_reason(state, {{"stopped-after", {"12"}}, {"saved-in", {"/runs/a%1"}}});
    state.reason = "in the words of another version";
    write_run_state(dir_, state);
    EXPECT_EQ(read_run_state(dir_).why, state.why);
    EXPECT_EQ(read_run_state(dir_).reason, state.reason);
    nlohmann::json json = nlohmann::json::parse(text());
    json.erase("why");
    put(json.dump());
    EXPECT_TRUE(read_run_state(dir_).why.empty()) << "older versions wrote none";
    json["why"] = nlohmann::json::array({{"text", std::string(20'000, 'x'), "y"}});
    put(json.dump());
    EXPECT_TRUE(read_run_state(dir_).why.empty()) << "too long for a reason";
}

TEST_F(RunJson, SaysWhyInWords) {
    RunState state = a_run();
    give_reason(state, {{"stopped-after", {"12"}}, {"saved-in", {"/runs/a%1"}}});
    EXPECT_EQ(state.reason, "stopped by request after step 12; saved in /runs/a%1");
}

TEST_F(RunJson, IsReadBackAsItWasWritten) {
    write_run_state(dir_, a_run());
    const std::string first = text();
    write_run_state(dir_, read_run_state(dir_));
    EXPECT_EQ(text(), first);
    const auto json = nlohmann::json::parse(first);
    EXPECT_EQ(json.at("state"), "running");
    EXPECT_EQ(json.at("nodes").at(0).at("ranks").at(1).at("pid"), ::getpid());
    EXPECT_EQ(json.at("writer").at("boot_id"), this_process().boot_id);
}

TEST_F(RunJson, LeavesNothingAsideWhenItCannotBeWritten) {
    fs::create_directories(dir_ / "run.json" / "in the way");
    EXPECT_THROW(write_run_state(dir_, a_run()), Error);
    EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1);
    EXPECT_THROW(write_run_state(dir_ / "missing", a_run()), Error);
}

TEST_F(RunJson, KnowsEveryStateByItsWord) {
    const char* words[] = {"queued", "preparing", "running", "stopping", "completed", "failed", "stopped"};
    for (int i = 0; i < 7; ++i) {
        const auto phase = static_cast<RunPhase>(i);
        EXPECT_STREQ(to_string(phase), words[i]);
        EXPECT_EQ(is_over(phase), i >= 4);
        RunState state = a_run();
        state.state = phase;
        write_run_state(dir_, state);
        EXPECT_EQ(read_run_state(dir_).state, phase);
    }
}

TEST_F(RunJson, ReadsAsFailedWhenItsWriterIsGone) {
    RunState state = a_run();
    state.writer = ended_process();
    write_run_state(dir_, state);
    const RunState read = read_run_state(dir_);
    EXPECT_EQ(read.state, RunPhase::Failed);
    EXPECT_EQ(read.why, (Reason{{"supervisor-gone", {std::to_string(state.writer.pid), state.writer.host}}}));
    EXPECT_EQ(read.ended, state.updated);
}

TEST_F(RunJson, IsNotFooledByAPidThatIsUsedAgain) {
    RunState state = a_run();
    state.writer.start_time -= 1;
    write_run_state(dir_, state);
    EXPECT_EQ(read_run_state(dir_).state, RunPhase::Failed);
    state = a_run();
    state.writer.boot_id = "another";
    write_run_state(dir_, state);
    EXPECT_EQ(read_run_state(dir_).why.back(), ReasonPart{"machine-restarted"});
}

TEST_F(RunJson, OfAnEndedRunOrOneThatWaitsNeedsNoWriter) {
    RunState state = a_run();
    state.state = RunPhase::Completed;
    state.writer = ended_process();
    write_run_state(dir_, state);
    EXPECT_EQ(read_run_state(dir_).state, RunPhase::Completed);
    state.state = RunPhase::Queued;
    state.writer = {};
    write_run_state(dir_, state);
    EXPECT_EQ(read_run_state(dir_).state, RunPhase::Queued);
}

TEST_F(RunJson, OfAnotherHostIsTakenAsItStands) {
    RunState state = a_run();
    state.writer.host = "elsewhere";
    state.writer.pid = 1 << 30;
    write_run_state(dir_, state);
    EXPECT_EQ(read_run_state(dir_).state, RunPhase::Running);
}

TEST_F(RunJson, ThatIsMissingOrDamagedIsSaidSo) {
    EXPECT_EQ(refusal().first, Failure::Usage);
    for (const char* content : {"", "{", "null", "[]", "{}", R"({"name":3})"}) {
        put(content);
        EXPECT_EQ(refusal().first, Failure::Refused) << content;
        EXPECT_NE(refusal().second.find((dir_ / "run.json").string() + ": "), std::string::npos) << content;
    }
    write_run_state(dir_, a_run());
    const auto whole = nlohmann::json::parse(text());
    for (const auto& [key, value] : whole.items()) {
        auto changed = whole;
        changed.erase(key);
        put(changed.dump());
        const bool may_lack_it =
            key == "code" || key == "failed_rank" || key == "why";  // older versions did not write these
        EXPECT_EQ(refusal().first, may_lack_it ? Failure::Unreachable : Failure::Refused)
            << key << " missing";
        changed[key] = value.is_number() ? nlohmann::json("text") : nlohmann::json(1e300);
        put(changed.dump());
        EXPECT_EQ(refusal().first, Failure::Refused) << key << " of another kind";
    }
    fs::remove(dir_ / "run.json");
    ASSERT_EQ(::mkfifo((dir_ / "run.json").c_str(), 0600), 0);
    EXPECT_EQ(refusal().first, Failure::Refused);
}

TEST(RunJsonOfANode, HoldsNumbersInTheirRangesAndNoDepth) {
    const auto whole = nlohmann::json::parse(run_state_text(a_run()));
    const auto refused = [](const std::string& text) {
        try {
            parse_run_state(text, "gpu1");
        } catch (const Error& problem) {
            return problem.failure == Failure::Refused && problem.text().size() < 1000;
        }
        return false;
    };
    EXPECT_FALSE(refused(whole.dump()));
    for (const auto& [key, value] :
         std::initializer_list<std::pair<const char*, nlohmann::json>>{{"ranks", 2147483647},
                                                                       {"ranks", 65537},
                                                                       {"ranks", -1},
                                                                       {"ranks", 18446744073709551615U},
                                                                       {"attempt", INT64_MAX},
                                                                       {"attempt", -1},
                                                                       {"started", 1e300},
                                                                       {"ended", -1e300},
                                                                       {"name", std::string(4096, 'x')},
                                                                       {"state", std::string(4096, 'x')}}) {
        auto changed = whole;
        changed[key] = value;
        EXPECT_TRUE(refused(changed.dump())) << key << " " << value;
    }
    for (const int64_t pid : {int64_t{-1}, int64_t{1} << 31, int64_t{4294967295}}) {
        auto changed = whole;
        changed["nodes"][0]["agent"]["pid"] = pid;
        EXPECT_TRUE(refused(changed.dump())) << pid;
    }
    auto long_reason = whole;
    long_reason["reason"] = std::string(100000, 'x');
    EXPECT_EQ(parse_run_state(long_reason.dump(), "gpu1").reason.size(), 16384U);
    EXPECT_TRUE(refused(std::string(50000, '[')));
    EXPECT_TRUE(refused(std::string(50000, '[') + std::string(50000, ']')));
    std::string many = "[";
    for (int i = 0; i < 500000; ++i) many += "{},";
    EXPECT_TRUE(refused(many + "{}]"));
    EXPECT_TRUE(refused("{\"name\":\"" + std::string(5 << 20, 'x') + "\"}"));
}

TEST(BoundedJson, CountsDepthAndValuesOutsideOfTextAlone) {
    EXPECT_EQ(what_exceeds(R"({"a":"[[[[,,,,\"[[["})", {100, 1, 1}), "");
    EXPECT_EQ(what_exceeds("[[1]]", {100, 1, 9}), "is nested deeper than 1 levels");
    EXPECT_EQ(what_exceeds("[1,2,3]", {100, 9, 2}), "holds more than 2 values");
    EXPECT_EQ(what_exceeds("[1]", {2, 9, 9}), "is longer than 2 bytes");
    EXPECT_TRUE(try_bounded_json("[[1]]", {100, 1, 9}).is_discarded());
    EXPECT_TRUE(try_bounded_json("[1,").is_discarded());
}

TEST(ProcessId, TellsTheLivingFromTheDead) {
    EXPECT_TRUE(is_alive(this_process()));
    EXPECT_GT(this_process().start_time, 0);
    EXPECT_FALSE(is_alive(ended_process()));
    EXPECT_FALSE(is_alive({this_process().host, 0, 0, this_process().boot_id}));
    EXPECT_FALSE(find_process(-1));
}

TEST(ProcessId, OfAZombieIsGone) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
    EXPECT_FALSE(find_process(pid));
    ::waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace ringmaster
