/// Defines the error thrown if the engine finds a fault in itself and not in the user's configuration.
#pragma once

#include <string>

#include "engine/error.h"

namespace ringmaster {

struct ProgramFault : Error {
    explicit ProgramFault(const std::string& what)
        : Error(Failure::Refused, Code("ENGINE-FAULT"), what, {},
                "this is a fault of the program, not of the configuration: please report it") {}
};

}  // namespace ringmaster
