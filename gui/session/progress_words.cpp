#include "gui/session/progress_words.h"

#include <QCoreApplication>
#include <string_view>

#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

struct Words {
    std::string_view name;  ///< name of a step; if it ends in a space, the beginning of the name
    const char* text;       ///< English text; %1 is the rest of the name
};

/// Makes the entry of a step whose key is the beginning of its English text, up to %1.
constexpr Words step(std::string_view text) {
    return {text.substr(0, text.find('%')), text.data()};
}

constexpr Words kWords[] = {
    // phases of a rank
    {"rendezvous", QT_TRANSLATE_NOOP("Progress", "the ranks meet")},
    {"load", QT_TRANSLATE_NOOP("Progress", "loading the model")},
    {"tokenize", QT_TRANSLATE_NOOP("Progress", "tokenizing")},
    {"preflight", QT_TRANSLATE_NOOP("Progress", "proving the mesh")},
    {"reference", QT_TRANSLATE_NOOP("Progress", "computing the reference")},
    {"rollouts", QT_TRANSLATE_NOOP("Progress", "waiting for files of rollouts")},
    {"train", QT_TRANSLATE_NOOP("Progress", "training")},
    {"export", QT_TRANSLATE_NOOP("Progress", "saving the final model")},
    // preparing rows and models
    step(QT_TRANSLATE_NOOP("Progress", "tokenizing")),
    step(QT_TRANSLATE_NOOP("Progress", "loading the tokenizer")),
    step(QT_TRANSLATE_NOOP("Progress", "resizing the embeddings")),
    step(QT_TRANSLATE_NOOP("Progress", "reading %1")),
    step(QT_TRANSLATE_NOOP("Progress", "hashing %1")),
    step(QT_TRANSLATE_NOOP("Progress", "fetching %1")),
    step(QT_TRANSLATE_NOOP("Progress", "preparing the upload")),
    step(QT_TRANSLATE_NOOP("Progress", "uploading to %1")),
    step(QT_TRANSLATE_NOOP("Progress", "converting to GGUF")),
    step(QT_TRANSLATE_NOOP("Progress", "verifying the checkpoint")),
    step(QT_TRANSLATE_NOOP("Progress", "making the example")),
    // setting up
    step(QT_TRANSLATE_NOOP("Progress", "making the Python environment")),
    step(QT_TRANSLATE_NOOP("Progress", "waiting for another set-up to finish")),
    step(QT_TRANSLATE_NOOP("Progress", "looking for the packages")),
    step(QT_TRANSLATE_NOOP("Progress", "downloading %1")),
    step(QT_TRANSLATE_NOOP("Progress", "unpacking the packages")),
    // other machines
    step(QT_TRANSLATE_NOOP("Progress", "connecting to the nodes")),
    step(QT_TRANSLATE_NOOP("Progress", "connecting to %1")),
    step(QT_TRANSLATE_NOOP("Progress", "sending to %1")),
    step(QT_TRANSLATE_NOOP("Progress", "installing LibTorch on %1")),
    step(QT_TRANSLATE_NOOP("Progress", "looking at what is on %1")),
    step(QT_TRANSLATE_NOOP("Progress", "waiting for the end of Slurm job %1")),
    step(QT_TRANSLATE_NOOP("Progress", "waiting for %1")),
    step(QT_TRANSLATE_NOOP("Progress", "self-test")),
    step(QT_TRANSLATE_NOOP("Progress", "measuring links")),
    step(QT_TRANSLATE_NOOP("Progress", "measuring: %1")),
};

}  // namespace

QString progress_text(const std::string& name) {
    for (const auto& [known, text] : kWords) {
        const bool is_beginning = known.ends_with(' ');
        if (is_beginning ? !name.starts_with(known) : name != known) continue;
        const QString translated = QCoreApplication::translate("Progress", text);
        return is_beginning ? translated.arg(QString::fromStdString(name.substr(known.size()))) : translated;
    }
    return QString::fromStdString(name);
}

bool counts_seconds(const PhaseEvent& phase) {
    return phase.name == "rollouts";
}

QString phase_text(const PhaseEvent& phase) {
    const QString name = progress_text(phase.name);
    if (phase.total <= 1) return name;
    const auto shown = [&](int64_t part) {
        return counts_seconds(phase) ? show::duration(double(part)) : show::count(part);
    };
    //: %1 is what a run does now, %2 how much of it is done, or for how long it waits; %3 the whole, or the
    //: longest time
    return QCoreApplication::translate("Progress", "%1, %2 of %3")
        .arg(name, shown(phase.done), shown(phase.total));
}

}  // namespace ringmaster
