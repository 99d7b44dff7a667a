#include "gui/launch/launch_remarks.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include "engine/error.h"
#include "gui/session/device_words.h"
#include "gui/session/finding_words.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct Remarks {
    Q_DECLARE_TR_FUNCTIONS(LaunchRemarks)
};

QString free_name(const std::string& name, const Places& places) {
    return QString::fromStdString(next_run_directory(places.runs_dir, name).filename().string());
}

QString fit_words(const Plan& plan) {
    if (plan.verdict != Verdict::WillNotFit) return {};
    for (const Diagnostic& said : plan.diagnostics)
        if (said.code == "MEM-FIT") return message_of(said);
    return Remarks::tr("The plan does not fit into the memory of its devices.");
}

QString output_words(const Plan& plan) {
    const QString folder = QString::fromStdString(plan.config.output_dir);
    const QStringList weights{u"model*.safetensors"_s, u"adapter_model.safetensors"_s};
    if (folder.isEmpty() || QDir(folder).entryList(weights, QDir::Files).isEmpty()) return {};
    return Remarks::tr("%1 holds a model, which this run replaces when it is done.").arg(folder);
}

}  // namespace

LaunchRemarks launch_remarks(const Request& request, const Machine& machine, const Places& places) {
    LaunchRemarks remarks;
    remarks.name = free_name(suggest_run_name(request.config), places);
    try {
        const Plan plan = plan_request(request, read_request(request), machine, places);
        remarks.why_not_here = missing_devices(plan, machine);
        remarks.warnings = {fit_words(plan), output_words(plan)};
        remarks.warnings.removeAll({});
    } catch (const Error&) {  // the preview reports the error
        remarks.warnings.clear();
    }
    return remarks;
}

QString taken_words(const QString& name, const Places& places) {
    const QString free = free_name(name.toStdString(), places);
    return free == name ? QString() : Remarks::tr("The name is taken: the run is called %1.").arg(free);
}

}  // namespace ringmaster
