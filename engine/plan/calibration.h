/// Holds measurements of a machine: the speeds of its parts (`ringmaster calibrate`) and of whole runs
/// (`ringmaster plan --measure`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmaster {

/// Floating-point operations per second.
struct ComputeFigures {
    double product = 0;  ///< a large matrix product
    double attention_forward = 0;
    double attention_backward = 0;
};

/// Speeds of one node and one kind of device: one GPU, or all cores of the process together.
struct Calibration {
    std::string host;
    std::string device;      ///< "cpu", or the GPU's name
    std::string processor;   ///< model of the CPU, if known
    int cores = 1;           ///< CPU cores used for the measurement
    std::string version;     ///< versions of the engine and of LibTorch
    double measured_at = 0;  ///< Unix seconds
    ComputeFigures float32, bfloat16;
    double memory = 0;  ///< bytes read and written per second by a large copy
    /// Bytes per second between two ranks of the node; null if the node has one GPU.
    std::optional<double> link;
    std::optional<double> latency_s;  ///< seconds that a message between two ranks of the node takes
    std::optional<double> disk;  ///< bytes per second to and from the disk of disk_folder; null: not measured
    std::optional<std::string> disk_folder;
    double seconds = 0;  ///< duration of the measurement
};

/// Measurement of one run of a few steps on this machine.
struct Measurement {
    std::string family;      ///< model, device, precision and options, which must match for reuse
    std::string run;         ///< the family plus length, mesh, layout and batch: the identical run
    std::string version;     ///< version of the program that made the predictions
    double measured_at = 0;  ///< Unix seconds
    int ranks = 1;
    int64_t length = 0;
    // Bytes of tensors on the fullest rank.
    double peak_bytes = 0, predicted_bytes = 0;
    double states_bytes = 0;  ///< predicted bytes of weights, gradients and optimizer
    // Seconds of one step on the rank that computes most.
    double step_s = 0, compute_s = 0, comm_s = 0, exposed_comm_s = 0;
    double assumed_compute_s = 0;  ///< prediction from assumed speeds
};

}  // namespace ringmaster
