/// What a check of the engine's own work throws: nothing that a person configured is wrong.
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
