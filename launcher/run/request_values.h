/// Reads the top-level values of a request's file, for keys that are not part of Config.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "launcher/run/request.h"

namespace ringmaster {

/// Returns the values of the configuration file, changed by --set.
nlohmann::json values_of(const Request& request);

}  // namespace ringmaster
