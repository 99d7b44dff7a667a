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
    const QString wanted = Remarks::tr("The plan is for %n GPU(s)", nullptr, plan.ranks);
    const QString seen =
        here == 0 ? Remarks::tr("this machine has none") : Remarks::tr("this machine has %n", nullptr, here);
    return show::sentences(
        {show::sentence(show::listed({wanted, seen})),
         Remarks::tr("Choose machines over SSH or Slurm, or set Ranks and Device on the Plan page.")});
}

}  // namespace ringmaster
