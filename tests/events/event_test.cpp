#include "engine/events/event.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/error.h"
#include "engine/events/library_words.h"
#include "engine/events/log_text.h"

namespace ringmaster {
namespace {

using nlohmann::json;

StepEvent a_step() {
    StepEvent e;
    e.step = 12, e.epoch = 0.31, e.loss = 2.71, e.rank_loss = 2.69, e.tokens = 8192, e.valid_tokens = 8001;
    e.rank_valid_tokens = 4011, e.lr = 1e-4, e.grad_norm = 0.8, e.step_s = 0.412, e.compute_s = 0.25,
    e.comm_s = 0.2;
    e.exposed_comm_s = 0.1, e.comm_bytes = 1 << 20, e.data_s = 0.062, e.memory_bytes = 5'000'000'000;
    e.peak_memory_bytes = 6'000'000'000, e.tokens_per_s = 19883.5;
    e.position_sum = 33550336, e.attention_cells = 16779264;
    return e;
}

HelloEvent a_hello() {
    HelloEvent e;
    e.attempt = 2, e.version = "0.1.0", e.torch_version = "2.11.0", e.host = "h\xc3\xa9lios",
    e.device = "cuda:1", e.pid = 4242;
    e.world_size = 4, e.dp_shard = 1, e.ring = 1, e.start_step = 10;
    return e;
}

std::vector<EventLine> one_of_each() {
    DeviceEvent device;
    device.utilisation = 0.97, device.power_w = 412.5;
    return {{1.5, 1, a_step()},
            {2, 0, a_hello()},
            {3, 0, PhaseEvent{"load", 3, 10}},
            {4, 3, device},
            {5, 0, EvalEvent{10, 2.5, 640}},
            {6, 0, WarningEvent{"\"quoted\"\n\ttwo lines", "row 7"}},
            {7, 0, CheckpointEvent{10, "checkpoints/step-00000010", 0.5}},
            {8, 0, DoneEvent{20, "stopped"}},
            {9, 65535, ErrorEvent{"loss is NaN", "rank 1, layer 3"}},
            {10, 0, SamplesEvent{80, 3, 12345}}};
}

TEST(Event, IsWrittenAsTheContractSays) {
    EXPECT_EQ(
        to_json_line({1.5, 1, a_step()}),
        R"({"type":"step","t":1.5,"rank":1,"step":12,"epoch":0.31,"loss":2.71,"rank_loss":2.69,"tokens":8192,)"
        R"("valid_tokens":8001,"rank_valid_tokens":4011,"lr":0.0001,"grad_norm":0.8,"step_s":0.412,"compute_s":0.25,)"
        R"("comm_s":0.2,"exposed_comm_s":0.1,"comm_bytes":1048576,"data_s":0.062,"memory_bytes":5000000000,)"
        R"("peak_memory_bytes":6000000000,"tokens_per_s":19883.5,"position_sum":33550336,"attention_cells":16779264})");
    EXPECT_EQ(to_json_line({8, 0, DoneEvent{20, "stopped"}}),
              R"({"type":"done","t":8.0,"rank":0,"step":20,"state":"stopped"})");
}

TEST(Event, OfEveryTypeIsReadBackAsItWasWritten) {
    for (const EventLine& line : one_of_each()) {
        const std::string text = to_json_line(line);
        EXPECT_EQ(text.find('\n'), std::string::npos);
        const std::optional<EventLine> read = parse_event(text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(read->event.index(), line.event.index());
        EXPECT_EQ(to_json_line(*read), text);
    }
}

TEST(Event, KeepsEveryBitOfItsNumbers) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; ++i) {
        StepEvent e = a_step();
        e.loss = std::bit_cast<double>(random());
        e.tokens = static_cast<int64_t>(random()) >> 4;  // larger ones are refused
        e.lr = static_cast<double>(random() % 1'000'000'000'000'000) / std::pow(10, i % 16);
        if (!std::isfinite(e.loss)) continue;
        const std::optional<EventLine> read = parse_event(to_json_line({1779283746.123456, 0, e}));
        ASSERT_TRUE(read);
        EXPECT_EQ(std::get<StepEvent>(read->event).loss, e.loss);
        EXPECT_EQ(std::get<StepEvent>(read->event).lr, e.lr);
        EXPECT_EQ(std::get<StepEvent>(read->event).tokens, e.tokens);
        EXPECT_EQ(read->t, 1779283746.123456);
    }
}

TEST(Event, WritesNullForWhatIsNoNumberAndReadsItAsUnknown) {
    StepEvent e = a_step();
    e.loss = std::numeric_limits<double>::quiet_NaN();
    e.grad_norm = std::numeric_limits<double>::infinity();
    e.rank_loss.reset();
    const std::string text = to_json_line({1, 0, e});
    const json written = json::parse(text);
    for (const char* key : {"loss", "grad_norm", "rank_loss"}) EXPECT_TRUE(written.at(key).is_null()) << key;
    const auto read = std::get<StepEvent>(parse_event(text).value().event);
    EXPECT_TRUE(std::isnan(read.loss));
    EXPECT_TRUE(std::isnan(read.grad_norm));
    EXPECT_FALSE(read.rank_loss);
}

TEST(Event, TellsOfTheLossScaleOnlyWhereThereIsOne) {
    StepEvent e = a_step();
    const json without = json::parse(to_json_line({1, 0, e}));
    EXPECT_FALSE(without.contains("loss_scale") || without.contains("skipped"));
    e.loss_scale = 32768, e.skipped = true;
    const std::string text = to_json_line({1, 0, e});
    EXPECT_EQ(json::parse(text).at("skipped"), true);
    const auto read = std::get<StepEvent>(parse_event(text).value().event);
    EXPECT_EQ(read.loss_scale, 32768);
    EXPECT_TRUE(read.skipped);
    e.skipped = false;
    const std::string good = to_json_line({1, 0, e});
    EXPECT_FALSE(json::parse(good).contains("skipped"));
    EXPECT_FALSE(std::get<StepEvent>(parse_event(good).value().event).skipped);
}

TEST(Event, TellsOfRewardsOnlyWhereCompletionsAreSampled) {
    StepEvent e = a_step();
    EXPECT_FALSE(json::parse(to_json_line({1, 0, e})).contains("reward"));
    e.sampling.reward = 0.5;
    e.sampling.functions = {{"rewards.\"exact\"", 0.25}, {"rewards.short", -1}};
    const auto read = std::get<StepEvent>(parse_event(to_json_line({1, 0, e})).value().event);
    EXPECT_EQ(read.sampling.reward, 0.5);
    EXPECT_FALSE(read.sampling.reward_std);
    EXPECT_EQ(read.sampling.functions, e.sampling.functions);
    EXPECT_FALSE(parse_event(R"({"type":"step","t":1,"rank":0,"step":1,"reward_functions":3})"));
}

TEST(Event, SkipsUnknownFieldsOfAnyKindInAnyOrder) {
    const auto line = parse_event(
        R"( { "extra" : {"a":[1,{"b":"}"}]}, "list":[[],[{}]], "flag":true, "rank" : 3 , "state":"completed",)"
        R"( "step":7.0, "t":1e3, "type":"done", "later":null, "text":"\u00e9\"," } )");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->rank, 3);
    EXPECT_EQ(line->t, 1000);
    EXPECT_EQ(std::get<DoneEvent>(line->event).step, 7);
    EXPECT_EQ(std::get<DoneEvent>(line->event).state, "completed");
}

TEST(Event, ReadsAMeasuredNumberThatIsMissingAsUnknownNotAsZero) {
    const auto line = parse_event(R"({"type":"step","t":1,"rank":0,"step":3,"loss":2.5})");
    ASSERT_TRUE(line);
    EXPECT_EQ(std::get<StepEvent>(line->event).loss, 2.5);
    EXPECT_TRUE(std::isnan(std::get<StepEvent>(line->event).comm_s));
    EXPECT_EQ(std::get<StepEvent>(line->event).comm_bytes, 0);
}

TEST(Event, RefusesWhatIsNoEventOfOurs) {
    for (const char* text :
         {"",
          " ",
          "{}",
          "[]",
          "null",
          "42",
          "{",
          R"({"type":"step")",
          R"({"type":"step"})",
          R"({"type":"news","t":1,"rank":0})",                             // unknown type
          R"({"type":7,"t":1,"rank":0,"step":1})",                         // a type that is not text
          R"({"type":"done","t":1,"rank":0,"state":"completed"})",         // no step
          R"({"type":"done","rank":0,"step":1,"state":"completed"})",      // no time
          R"({"type":"done","t":1,"rank":-1,"step":1})",                   // no such rank
          R"({"type":"done","t":1,"rank":4294967296,"step":1})",           // beyond an int
          R"({"type":"done","t":1,"rank":0.5,"step":1})",                  // fraction
          R"({"type":"done","t":1,"rank":0,"step":1e30})",                 // beyond an int64
          R"({"type":"done","t":1,"rank":0,"step":"1"})",                  // text for a number
          R"({"type":"done","t":1,"rank":0,"step":1,"state":5})",          // a number for text
          R"({"type":"done","t":1,"rank":0,"step":01})",                   // a number with a leading zero
          R"({"type":"done","t":1,"rank":0,"step":1} x)",                  // text after the object
          R"({"type":"done","t":1,"rank":0,"step":1,})",                   // a comma before the brace
          R"({"type":"done","t":NaN,"rank":0,"step":1})",                  // NaN is not JSON
          R"({"type":"done","t":.5,"rank":0,"step":1})",                   // no digit before the point
          R"({"type":"done","t":1,"rank":0,"step":1,"x":[1,}])",           // a comma before the bracket
          "{\"type\":\"error\",\"t\":1,\"rank\":0,\"message\":\"\xff\"}",  // invalid UTF-8
          "{\"type\":\"error\",\"t\":1,\"rank\":0,\"message\":\"a\tb\"}"}) {
        EXPECT_FALSE(parse_event(text)) << text;
    }
}

TEST(Event, ReplacesBytesThatAreNoUtf8) {
    const std::string text = to_json_line({1, 0, ErrorEvent{"bad \xff byte", "\xc3"}});
    EXPECT_TRUE(json::accept(text));
    EXPECT_EQ(std::get<ErrorEvent>(parse_event(text).value().event).message, "bad \xef\xbf\xbd byte");
}

TEST(Event, SurvivesDeepNesting) {
    const std::string head = R"({"type":"done","t":1,"rank":0,"step":1,"x":)";
    EXPECT_FALSE(parse_event(head + std::string(1 << 20, '[')));
    EXPECT_FALSE(parse_event(head + std::string(1 << 20, '{')));
    EXPECT_TRUE(parse_event(head + std::string(1 << 14, '[') + std::string(1 << 14, ']') + "}"));
    EXPECT_FALSE(parse_event(head + std::string(1 << 16, '[') + std::string(1 << 16, ']') + "}"));
}

/// Cuts, swaps, repeats and changes bytes.
std::string damaged(std::string text, const std::string& other, std::mt19937& random) {
    auto below = [&](size_t n) {
        return std::uniform_int_distribution<size_t>(0, n == 0 ? 0 : n - 1)(random);
    };
    constexpr std::string_view kTelling = "{}[]\",:\\0123456789eE+-.tfnu \t\xff\x00\x80";
    for (size_t changes = 1 + below(3); changes > 0 && !text.empty(); --changes) {
        const size_t at = below(text.size());
        switch (below(6)) {
            case 0:
                text[at] = static_cast<char>(below(256));
                break;
            case 1:
                text[at] = kTelling[below(kTelling.size())];
                break;
            case 2:
                text.erase(at, 1 + below(8));
                break;
            case 3:
                text.insert(at, 1, kTelling[below(kTelling.size())]);
                break;
            case 4:
                text.resize(at);
                break;
            case 5:
                text.insert(at, other.substr(below(other.size()), below(40)));
                break;
        }
    }
    return text;
}

TEST(Event, OfADamagedLineIsTakenOnlyWhereTheLineIsStillJson) {
    std::mt19937 random(20240517);
    std::vector<std::string> lines;
    for (const EventLine& line : one_of_each()) lines.push_back(to_json_line(line));
    int taken = 0;
    for (int i = 0; i < 60'000; ++i) {
        const std::string text = damaged(lines[i % lines.size()], lines[(i / 7) % lines.size()], random);
        if (!parse_event(text)) continue;
        ++taken;
        try {
            EXPECT_TRUE(json::parse(text).is_object()) << text;
        } catch (const json::out_of_range&) {  // the number of an unknown field is too large for a double
        } catch (const json::exception& problem) {
            ADD_FAILURE() << text << "\n" << problem.what();
        }
    }
    EXPECT_GT(taken, 1000);
}

TEST(EventLine, OfNumbersThatCannotBeIsNone) {
    const auto with = [](const std::string& key, const std::string& value) {
        std::string line = R"({"type":"step","t":1,"rank":0,"step":1,"tokens":1})";
        const size_t at = line.find("\"" + key + "\":") + key.size() + 3;
        return line.replace(at, 1, value);
    };
    EXPECT_TRUE(parse_event(with("step", "1000000000000")));
    for (const char* step : {"9223372036854775807", "-1", "-9223372036854775808", "1000000000001", "1e300"})
        EXPECT_FALSE(parse_event(with("step", step))) << step;
    for (const char* rank : {"2147483647", "65536", "-1"})
        EXPECT_FALSE(parse_event(with("rank", rank))) << rank;
    for (const char* t : {"1e300", "-1e12"}) EXPECT_FALSE(parse_event(with("t", t))) << t;
    for (const char* tokens : {"9223372036854775807", "-9223372036854775808"})
        EXPECT_FALSE(parse_event(with("tokens", tokens))) << tokens;
    EXPECT_FALSE(parse_event(R"({"type":"hello","t":1,"rank":0,"start_step":9223372036854775807})"));
    EXPECT_FALSE(parse_event(R"({"type":"hello","t":1,"rank":0,"world_size":2147483647})"));
}

TEST(EventLine, OfAnErrorNamesItsCause) {
    const EventLine line{9, 1, ErrorEvent{"xyz", "", "RANKS-TRANSFER", std::string(cause::kPeerLost)}};
    EXPECT_EQ(json::parse(to_json_line(line)).at("cause"), "peer-lost");
    EXPECT_EQ(std::get<ErrorEvent>(parse_event(to_json_line(line)).value().event).cause, cause::kPeerLost);
    const auto older = parse_event(R"({"type":"error","t":1,"rank":0,"message":"nothing came for 9 s"})");
    EXPECT_EQ(std::get<ErrorEvent>(older.value().event).cause, "");
}

TEST(LibraryWords, NameTheCausesOfLibrariesAndNoneOfOurs) {
    EXPECT_EQ(cause_in("[enforce fail] Connection closed by peer [127.0.0.1]:4242"), cause::kPeerLost);
    EXPECT_EQ(cause_in("ncclRemoteError: A call failed possibly due to a network error"), cause::kPeerLost);
    EXPECT_EQ(cause_in("Watchdog caught collective operation timeout: WorkNCCL"), cause::kTimeout);
    EXPECT_EQ(cause_in("CUDA out of memory. Tried to allocate 2 GiB"), cause::kMemory);
    EXPECT_EQ(cause_in("std::bad_alloc"), cause::kMemory);
    for (const char* ours :
         {"", "nothing came for 120 s", "given up", "lost rank 0's store", "the loss is nan"})
        EXPECT_EQ(cause_in(ours), "") << ours;
}

TEST(LogText, SaysAnEventAsTheEngineLogsIt) {
    EXPECT_EQ(log_text(CheckpointEvent{100, "checkpoints", 4.13}), "checkpoint of step 100 saved in 4.1 s");
    EXPECT_EQ(log_text(EvalEvent{5, 2.5, 77, {}}), "evaluation after step 5: loss 2.500000 over 77 labels");
    EXPECT_EQ(log_text(DoneEvent{3, "completed"}), "completed after step 3");
    EXPECT_EQ(log_text(DoneEvent{3, "stopped"}), "stopped after step 3, saved");
    EXPECT_EQ(log_text(a_step()), "");
}

TEST(LogText, OfAnErrorHasItsPlaceAndItsHint) {
    const Error full(Failure::Refused, Code("DISK-FULL"), "the disk is full", "/runs", "make room");
    EXPECT_EQ(error_event(full).message, full.what() + std::string(" \u2014 ") + full.hint);
    EXPECT_EQ(log_text(error_event(full)), "error: /runs: " + error_event(full).message);
    const Error bare(Failure::Refused, Code("DISK-FULL"), "the disk is full");
    EXPECT_EQ(log_text(error_event(bare)), "error: " + bare.text());
}

TEST(EventLine, HasALongestTextAndLength) {
    const auto warning = [](size_t bytes) {
        return R"({"type":"warning","t":1,"rank":0,"message":")" + std::string(bytes, 'x') + "\"}";
    };
    const auto cut = parse_event(warning(60000));
    ASSERT_TRUE(cut);
    EXPECT_EQ(std::get<WarningEvent>(cut->event).message.size(), 4096U);
    EXPECT_FALSE(parse_event(warning(1 << 20)));
}

}  // namespace
}  // namespace ringmaster
