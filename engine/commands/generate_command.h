/// Generates text from prompts as a separate program, for `ringmaster generate`.
#pragma once

#include <string>

namespace ringmaster {

/// Reads a request and prints lines of JSON while it generates; returns the exit status. The request:
///
///     {"models": [{"name": "base", "config": a Config as JSON}, …], "device": "cpu"|"cuda",
///      and the keys of engine/sample/request.h}
///
/// The models run one after the other. The lines, where `prompt` counts from 0:
///
///     {"type":"token","model","prompt","id","log_probability","text"}
///     {"type":"completion","model","prompt","ids","log_probabilities","text","stopped"}
///     {"type":"generated","model","tokens","seconds"}
///     {"type":"error","code","message","where","hint","exit"}
int run_generate(const std::string& request_file);

}  // namespace ringmaster
