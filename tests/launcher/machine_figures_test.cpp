#include "launcher/machine/machine_figures.h"

#include <gmock/gmock.h>

#include <QTemporaryDir>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/plan/speeds.h"

namespace ringmaster {
namespace {

class MachineFigures : public testing::Test {
  protected:
    MachineFigures() {
        places.cache_dir = folder.path().toStdString();
        machine.host = "ann@gpu-1:22";
        machine.processor = "A Processor";
        machine.cores = 4;
        made.host = machine.host;
        made.device = "cpu";
        made.processor = machine.processor;
        made.cores = 4;
        made.float32 = made.bfloat16 = {1e11, 1e11, 1e11};
        made.memory = 1e10;
        made.link = 1e9;
        made.latency_s = 1e-5;
    }

    QTemporaryDir folder;
    Places places;
    Machine machine;
    Calibration made;
};

TEST_F(MachineFigures, AreFoundAgainForTheSameMachineAlone) {
    EXPECT_TRUE(known_calibrations(places, machine).empty());
    keep_calibration(places, machine, made);
    ASSERT_EQ(known_calibrations(places, machine).size(), 1U);
    EXPECT_EQ(calibration_to_json(known_calibrations(places, machine)[0]), calibration_to_json(made));
    Machine other = machine;
    other.host = "gpu-2";
    EXPECT_TRUE(known_calibrations(places, other).empty());
    other = machine;
    other.processor = "Another Processor";
    EXPECT_TRUE(known_calibrations(places, other).empty());
    other = machine;
    other.cores = 2;
    EXPECT_TRUE(known_calibrations(places, other).empty());
}

TEST_F(MachineFigures, OfAGpuGoByItsNameAndNeedGpusThatAreAlike) {
    machine.gpus = {{0, "", "H100", 0}, {1, "", "H100", 0}};
    made.device = "H100";
    keep_calibration(places, machine, made);
    EXPECT_EQ(known_calibrations(places, machine).size(), 1U);
    machine.gpus[1].name = "A100";
    EXPECT_TRUE(known_calibrations(places, machine).empty());
    EXPECT_THROW(calibration_arguments(machine, {true, {}}), Error);
    machine.gpus = {{0, "", "A100", 0}};
    EXPECT_TRUE(known_calibrations(places, machine).empty());
}

TEST_F(MachineFigures, ADamagedFileCountsAsNone) {
    const auto file = keep_calibration(places, machine, made);
    for (const char* content : {"", "{", "[]", "{\"host\": 3}", "{\"host\": \"ann@gpu-1:22\"}"}) {
        std::ofstream(file) << content;
        EXPECT_TRUE(known_calibrations(places, machine).empty()) << content;
    }
}

TEST_F(MachineFigures, AMeasurementReplacesThatOfTheSameRun) {
    Measurement run;
    run.family = "f";
    run.run = "r";
    run.version = RINGMASTER_VERSION;
    run.peak_bytes = 1;
    keep_measurement(places, machine, run);
    run.peak_bytes = 2;
    keep_measurement(places, machine, run);
    run.run = "s";
    keep_measurement(places, machine, run);
    EXPECT_EQ(known_measurements(places, machine).size(), 2U);
    EXPECT_EQ(known_measurements(places, machine)[0].peak_bytes, 2);
    machine.cores = 8;
    EXPECT_TRUE(known_measurements(places, machine).empty()) << "another machine of the same name";
}

TEST_F(MachineFigures, TheEnginesLinesBecomeProgressAndAResult) {
    std::vector<std::string> seen;
    Progress progress;
    progress.step = [&](const ProgressStep& step) { seen.push_back(step.with.at(0)); };
    CalibrationLines lines(progress);
    EXPECT_FALSE(lines.take(R"({"phase":"memory copy","done":4,"total":8})"));
    EXPECT_TRUE(lines.take("libgomp: something of its own"));
    EXPECT_THROW(lines.result(machine, false), Error);
    EXPECT_FALSE(lines.take(nlohmann::json{{"result", calibration_to_json(made)}}.dump()));
    EXPECT_THAT(seen, testing::ElementsAre("memory copy"));
    EXPECT_EQ(lines.result(machine, false).host, machine.host);
}

TEST_F(MachineFigures, WithoutAnEngineItSaysSo) {
    places.programs_dir = folder.path().toStdString();
    try {
        calibrate_here(places, machine, {}, {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Unreachable);
        EXPECT_THAT(error.where, testing::HasSubstr("ringmaster-engine"));
    }
}

}  // namespace
}  // namespace ringmaster
