/// What was measured on a machine: speeds of its parts (`ringmaster calibrate`), and of whole runs
/// (`ringmaster plan --measure`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmaster {

/// Floating-point operations a second.
struct ComputeFigures {
    double product = 0;  ///< a large matrix product
    double attention_forward = 0;
    double attention_backward = 0;
};

/// Of one node and one kind of device. On the CPU all cores of the process together, else of one GPU.
struct Calibration {
    std::string host;
    std::string device;      ///< "cpu", or the GPU's name
    std::string processor;   ///< its model, where it is known
    int cores = 1;           ///< that took part, on the CPU
    std::string version;     ///< of the engine and its LibTorch
    double measured_at = 0;  ///< Unix seconds
    ComputeFigures float32, bfloat16;
    double memory = 0;                ///< bytes read and written a second by a large copy
    std::optional<double> link;       ///< bytes a second from one rank to another of the node; null: one GPU
    std::optional<double> latency_s;  ///< of a message between them
    double seconds = 0;               ///< that measuring took
};

/// Of one run of a few steps on this machine.
struct Measurement {
    std::string family;      ///< model, device, precision and options: what must be equal to be of use
    std::string run;         ///< and length, mesh, layout and batch: the very same run
    std::string version;     ///< of the program whose predictions are here
    double measured_at = 0;  ///< Unix seconds
    int ranks = 1;
    int64_t length = 0;
    // Of the fullest rank, bytes of tensors.
    double peak_bytes = 0, predicted_bytes = 0;
    double states_bytes = 0;  ///< weights, gradients and optimizer among the predicted
    // Of the rank that computes most, of one step.
    double step_s = 0, compute_s = 0, comm_s = 0, exposed_comm_s = 0;
    double assumed_compute_s = 0;  ///< what assumed speeds predict
};

}  // namespace ringmaster
