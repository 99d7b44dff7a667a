/// Lets this user's systemd continue the queue after a restart of the machine, without a command of
/// Ringmaster. The unit `ringmaster-queue.service` in ${XDG_CONFIG_HOME:-~/.config}/systemd/user runs
/// `ringmaster queue run` when the user's manager starts: at the login, or with the machine if the user
/// lingers (`loginctl enable-linger`). All calls run `systemctl --user`, which may take seconds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "launcher/base/places.h"

namespace ringmaster {

struct QueueService {
    std::filesystem::path unit;  ///< the unit's file, whether it exists or not
    bool is_on = false;
    /// True: the user's manager starts with the machine and outlives a logout; nullopt: unknown.
    std::optional<bool> lingers;
    std::string obstacle;  ///< why the service cannot be switched on or off here; empty if it can
};

/// Returns the current state. Never throws.
QueueService queue_service();

/// Returns the text of the unit. It names the program, the runs folder, and those of Ringmaster's environment
/// variables that are set now; it holds no secrets.
std::string queue_unit(const Places& places);

/// Writes, enables and starts the unit; replaces an existing one. If systemd refuses, restores the earlier
/// state. Throws Error(Unreachable), QUEUE-SERVICE.
void switch_queue_service_on(const Places& places);

/// Disables and removes the unit; a running queue continues. Does nothing if there is no unit. Throws
/// Error(Unreachable), QUEUE-SERVICE.
void switch_queue_service_off();

}  // namespace ringmaster
