#include "engine/plan/plan_request.h"

#include <algorithm>
#include <thread>

namespace ringmaster {

int cores_of(const PlanRequest& request) {
    if (request.machine_cores > 0) return request.machine_cores;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace ringmaster
