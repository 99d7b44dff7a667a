#include "gui/session/device_words.h"

#include <QCoreApplication>

#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

struct Remarks {
    Q_DECLARE_TR_FUNCTIONS(LaunchRemarks)
};

}  // namespace

QString missing_devices(const Plan& plan, const Machine& machine) {
    const int here = int(machine.gpus.size());
    if (plan.device != Device::Cuda || here >= plan.ranks) return {};
    const QString lack =
        here == 0
            ? Remarks::tr("The plan is for %n GPU(s); this machine has none.", nullptr, plan.ranks)
            : Remarks::tr("The plan is for %n GPU(s); this machine has %1.", nullptr, plan.ranks).arg(here);
    return show::sentences(
        {lack, Remarks::tr("Choose machines over SSH or Slurm, or set Ranks and Device on the Plan page.")});
}

}  // namespace ringmaster
