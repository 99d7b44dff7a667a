/// Lists the headers to precompile for the tests that do not use LibTorch.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/std_pch.h"
