// Implements `resave RUN STEP`: saves a step's checkpoint again over itself, as save_checkpoint does.
#include <ATen/ATen.h>

#include <cstdio>
#include <cstdlib>

#include "engine/error.h"
#include "engine/model/lora.h"
#include "engine/plan/resolve/plan_json.h"
#include "engine/train/checkpoint.h"

int main(int, char** argv) {
    using namespace ringmaster;
    try {
        const at::NoGradGuard no_grad;
        const RunFolder run{argv[1]};
        const Plan plan = read_plan(run.plan());
        TrainedModel model(*plan.model, plan.config.lora, plan.config.precision, at::kCPU, {},
                           plan.config.quantization);
        const auto optimizer = make_optimizer(model.trained(), plan.config);
        const TrainerState state =
            load_checkpoint(run.checkpoint(std::atoll(argv[2])), model.trained(), *optimizer);
        save_checkpoint(run, plan, model.trained(), *optimizer, state, 0);
        return 0;
    } catch (const Error& problem) {
        std::fprintf(stderr, "%s\n", problem.text().c_str());
        return static_cast<int>(problem.failure);
    }
}
