/// Lists the headers to precompile for all libraries that use LibTorch.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "engine/std_pch.h"
