// Implements `write_run DIR RANKS STEPS`: writes a completed run of known events with the engine's writer.
// Step 2 occurs twice: its second event, written after a resume, has the right figures. Rank 1 has no labels
// in step 3.
#include <cstdlib>
#include <fstream>

#include "engine/events/event_log.h"
#include "engine/events/run_state.h"

using namespace ringmaster;

namespace {

StepEvent known_step(int rank, int64_t step) {
    StepEvent event;
    event.step = step;
    event.epoch = 0.125 * static_cast<double>(step);
    event.loss = 4.0 / static_cast<double>(step);
    event.rank_loss = event.loss + 0.5 * rank;
    if (rank == 1 && step == 3) event.rank_loss.reset();
    event.tokens = 8192;
    event.valid_tokens = 8001;
    event.rank_valid_tokens = 4000 + rank;
    event.lr = 1e-4 / static_cast<double>(step);
    event.grad_norm = 0.1 * static_cast<double>(step);
    event.step_s = 0.5;
    event.compute_s = 0.375;
    event.comm_s = 0.25;
    event.exposed_comm_s = 0.125;
    event.comm_bytes = 5'000'000'000 + rank;
    event.memory_bytes = 1 << 20;
    event.peak_memory_bytes = 1 << 21;
    event.tokens_per_s = 16384;
    event.host_memory_bytes = int64_t{1} << 33;
    event.router_loss = 0.25 / static_cast<double>(step);
    event.loss_scale = 1024;
    if (step % 2 == 0)
        event.preference = {.rewards_chosen = 1,
                            .rewards_rejected = -1,
                            .margin = 2,
                            .accuracy = 0.75,
                            .kl = 0.5,
                            .nll = 3,
                            .sampler_gap = 0.0625,
                            .clip_share = 0.125};
    event.sampling = {.reward = 0.5,
                      .reward_std = 0.25,
                      .completion_tokens = 12,
                      .cut_share = 0.125,
                      .even_share = 0,
                      .functions = {{"rewards.exact", 0.75}, {"rewards.\"short\"", -0.25}}};
    event.skipped = step == 4;
    return event;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const std::filesystem::path dir = argv[1];
    const int ranks = std::atoi(argv[2]);
    const int64_t steps = std::atoll(argv[3]);
    std::filesystem::create_directories(dir);
    std::ofstream(dir / "config.yaml") << "base_model: x\n";
    for (int rank = 0; rank < ranks; ++rank) {
        EventWriter events(dir / "events", rank);
        HelloEvent hello;
        hello.world_size = ranks;
        events.write(hello);
        for (int64_t step = 1; step <= steps; ++step) {
            if (step == 2) {
                StepEvent wrong = known_step(rank, step);
                wrong.loss = 99;
                events.write(wrong);
                hello.attempt = 2;
                hello.start_step = 1;
                events.write(hello);
            }
            events.write(known_step(rank, step));
        }
        if (rank == 0) events.write(EvalEvent{steps, 2.5, 77});
        events.write(DoneEvent{steps, "completed"});
    }
    RunState state;
    state.name = dir.filename();
    state.state = RunPhase::Completed;
    state.ranks = ranks;
    state.attempt = 2;
    state.created = state.started = 1.7e9;
    state.ended = state.updated = 1.7e9 + 60;
    write_run_state(dir, state);
}
