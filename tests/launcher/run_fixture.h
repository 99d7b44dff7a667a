/// Makes a temporary folder with run directories, written as the engine and the agent write them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engine/events/event_log.h"
#include "engine/events/run_state.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

class RunFixture : public testing::Test {
  protected:
    RunFixture() {
        std::string name = (std::filesystem::temp_directory_path() / "ringmaster-XXXXXX").string();
        dir_ = std::filesystem::canonical(mkdtemp(name.data()));
    }
    ~RunFixture() override {
        std::error_code problem;
        std::filesystem::remove_all(dir_, problem);
    }

    static void write(const std::filesystem::path& file, const std::string& text) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::app | std::ios::binary) << text;
    }

    RunDirectory make_run(const std::string& name, RunPhase phase = RunPhase::Completed, int ranks = 2,
                          double created = 1) {
        const RunDirectory run{dir_ / "runs" / name};
        write(run.config(), "base_model: x\n");
        set_state(run, phase, ranks, created);
        return run;
    }

    static void set_state(const RunDirectory& run, RunPhase phase, int ranks = 2, double created = 1) {
        RunState state;
        state.name = run.name();
        state.state = phase;
        state.ranks = ranks;
        state.attempt = 1;
        state.created = created;
        write_run_state(run.dir, state);
    }

    std::filesystem::path dir_;
};

inline StepEvent step_event(int64_t step, double loss) {
    StepEvent event;
    event.step = step;
    event.loss = loss;
    event.rank_loss = loss;
    event.tokens = 1000;
    event.step_s = 0.5;
    event.compute_s = 0.4;
    event.exposed_comm_s = 0.1;
    return event;
}

}  // namespace ringmaster
