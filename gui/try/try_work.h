/// Does the long work of the Try it page: generates with a run's or a folder's model, and merges its adapter.
#pragma once

#include <QString>

#include "gui/session/job.h"
#include "launcher/rows/generate.h"

namespace ringmaster {

/// Holds what is known about a model before its weights are read.
struct TriedModel {
    QString path;  ///< a run directory, or the folder of a model or an adapter; empty: none is chosen
    QString name;
    bool is_run = false;
    bool has_adapter = false;
    bool has_base = false;  ///< false: there is no base model to compare with
};

/// Returns what is known about the model in a run directory or a folder. Throws Error for a run whose plan
/// cannot be read.
TriedModel look_at_model(const QString& path);

/// Returns a job that generates text; `on_line` is called on the job's thread.
Job::Work generation_work(const TriedModel& model, const GenerateOptions& options, const Places& places,
                          OnGenerated on_line);

/// Returns a job that merges the adapter into its base model and writes the model to `folder`, which is the
/// job's result.
Job::Work merge_work(const TriedModel& model, const QString& folder, const Places& places);

/// Returns a job that uploads the model to the Hugging Face hub, with a card if a run trained it. The job's
/// result is the address of `repository` there.
Job::Work push_work(const TriedModel& model, const QString& repository, bool is_private,
                    const Places& places);

/// Returns a job that writes the model as a GGUF file; the job's result is the file's path.
Job::Work gguf_work(const TriedModel& model, const QString& file, const Places& places);

}  // namespace ringmaster
