/// What a check found, in the words of the table and of the details.
#pragma once

#include <QString>
#include <utility>
#include <vector>

#include "gui/look/card.h"
#include "gui/look/run_mark.h"
#include "gui/nodes/node_checks.h"
#include "gui/session/job.h"

namespace ringmaster {

QString targetName(const Target& target);  ///< "This machine", "ann@gpu2:2222", "Slurm through login1"

/// State as a word, a shape and a tone.
struct NodeLook {
    QString word;
    RunMark mark;
    Tone tone;
};
NodeLook lookOf(const RosterEntry& entry, CheckPhase phase);

QString deviceWords(const RosterEntry& entry);  ///< "4 × NVIDIA H100", "32 cores", "3 partitions"
QString memoryWords(const RosterEntry& entry);  ///< of a device, else what is free of the machine's
QString ageWords(const RosterEntry& entry, double now);

/// What was found, in the app's language as far as it is of our own.
QString foundWords(const NodeReport& report);

/// The same of one finding; empty where its code is not known here.
QString findingWords(const NodeFinding& finding);

/// What failed and what to do next, likewise.
std::pair<QString, QString> problemWords(const JobFailure& failure);

/// The same; while it is checked, that.
QString messageWords(const NodeChecks& checks, int row);

/// What to do next; empty where it is ready.
QString nextWords(const NodeReport& report);

/// What the machine said of itself, each with its name.
std::vector<std::pair<QString, QString>> factWords(const RosterEntry& entry);

}  // namespace ringmaster
