/// Describes what a check found, for the table and the details.
#pragma once

#include <QString>
#include <utility>
#include <vector>

#include "gui/look/card.h"
#include "gui/look/run_mark.h"
#include "gui/nodes/node_checks.h"

namespace ringmaster {

QString targetName(const Target& target);  ///< "This machine", "ann@gpu2:2222", "Slurm through login1"

/// Shows a state as a word, a shape and a tone.
struct NodeLook {
    QString word;
    RunMark mark;
    Tone tone;
};
NodeLook lookOf(const SavedTarget& entry, CheckPhase phase);

QString deviceWords(const SavedTarget& entry);  ///< such as "4 × NVIDIA H100", "32 cores", "3 partitions"
QString memoryWords(const SavedTarget& entry);  ///< memory of a device, or free memory of the machine
QString ageWords(const SavedTarget& entry, double now);

/// Returns what was found, in the app's language if Ringmaster wrote the text.
QString foundWords(const NodeReport& report);

/// Returns what was found, or the progress while a check is running.
QString messageWords(const NodeChecks& checks, int row);

/// Returns what to do next; empty if the machine is ready.
QString nextWords(const NodeReport& report);

/// Returns the facts that the machine reported, each with its name.
std::vector<std::pair<QString, QString>> factWords(const SavedTarget& entry);

}  // namespace ringmaster
