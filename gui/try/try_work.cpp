#include "gui/try/try_work.h"

#include <QFileInfo>
#include <utility>

#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/history/run_details.h"
#include "launcher/publish/gguf.h"
#include "launcher/publish/push.h"
#include "launcher/rows/merge.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

RunDirectory run_at(const TriedModel& model) {
    return RunDirectory{model.path.toStdString()};
}

ModelsToTry models_of(const TriedModel& model) {
    return model.is_run ? models_of_run(run_at(model)) : models_of_folder(model.path.toStdString(), {});
}

}  // namespace

TriedModel look_at_model(const QString& path) {
    TriedModel model;
    model.path = QFileInfo(path).absoluteFilePath();
    model.name = QFileInfo(model.path).fileName();
    model.is_run = QFileInfo(model.path + u"/run.json"_s).isFile();
    model.has_adapter = model.is_run ? read_plan(run_at(model).plan().string()).config.lora.on()
                                     : QFileInfo(model.path + u"/adapter_config.json"_s).isFile();
    model.has_base = model.is_run || model.has_adapter;
    return model;
}

Job::Work generation_work(const TriedModel& model, const GenerateOptions& options, const Places& places,
                          OnGenerated on_line) {
    return [model, options, places, on_line = std::move(on_line)](const Job::Reporter& report) {
        generate_text(models_of(model), options, places, report.progress, on_line);
        return QString();
    };
}

Job::Work merge_work(const TriedModel& model, const QString& folder, const Places& places) {
    return [model, folder, places](const Job::Reporter& report) {
        const Config config = model.is_run ? config_of_trained_adapter(run_at(model), kMergeCode)
                                           : config_of_adapter(model.path.toStdString(), {}, kMergeCode);
        merge_adapter(config, folder.toStdString(), places, report.progress);
        return folder;
    };
}

Job::Work push_work(const TriedModel& model, const QString& repository, bool is_private,
                    const Places& places) {
    return [=](const Job::Reporter& report) {
        Push push{model.path.toStdString(), repository.toStdString(), is_private};
        if (model.is_run)
            push.folder = model_with_card(run_at(model), repository.section(u'/', -1).toStdString());
        return QString::fromStdString(push_folder(push, places, report.progress));
    };
}

Job::Work gguf_work(const TriedModel& model, const QString& file, const Places& places) {
    return [=](const Job::Reporter& report) {
        const std::filesystem::path folder = model.is_run ? written_model(run_at(model), "GGUF-CONVERTER")
                                                          : std::filesystem::path(model.path.toStdString());
        export_gguf(folder, file.toStdString(), gguf_converter({}), places, report.progress);
        return file;
    };
}

}  // namespace ringmaster
