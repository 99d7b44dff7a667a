/// Lists remarks that a user should read before pressing Launch: devices that are missing here, a plan that
/// does not fit, a model in the output folder, a name that is taken.
#pragma once

#include <QString>
#include <QStringList>

#include "launcher/base/places.h"
#include "launcher/machine/machine.h"
#include "launcher/run/request.h"

namespace ringmaster {

struct LaunchRemarks {
    QString why_not_here;  ///< reason why this machine cannot run the plan; empty if it can
    QStringList warnings;
    QString name;  ///< name of the run if none is typed
};

/// Reads the configuration and returns remarks on it. Errors in the configuration are not included; the
/// preview reports them.
LaunchRemarks launch_remarks(const Request& request, const Machine& machine, const Places& places);

/// Returns "The name is taken: the run is called X-2."; empty if the name is free.
QString taken_words(const QString& name, const Places& places);

}  // namespace ringmaster
