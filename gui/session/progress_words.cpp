#include "gui/session/progress_words.h"

#include <QCoreApplication>
#include <string_view>

namespace ringmaster {

namespace {

struct Words {
    std::string_view name;  ///< a name; if it ends in a space, the beginning of one
    const char* text;       ///< English text; %1 is the rest of the name
};

constexpr Words kWords[] = {
    // phases of a rank
    {"rendezvous", QT_TRANSLATE_NOOP("Progress", "the ranks meet")},
    {"load", QT_TRANSLATE_NOOP("Progress", "loading the model")},
    {"tokenize", QT_TRANSLATE_NOOP("Progress", "tokenizing")},
    {"preflight", QT_TRANSLATE_NOOP("Progress", "proving the mesh")},
    {"train", QT_TRANSLATE_NOOP("Progress", "training")},
    {"export", QT_TRANSLATE_NOOP("Progress", "saving the final model")},
    // preparing rows and models
    {"tokenizing", QT_TRANSLATE_NOOP("Progress", "tokenizing")},
    {"tokenizing ", QT_TRANSLATE_NOOP("Progress", "tokenizing %1")},
    {"loading the tokenizer", QT_TRANSLATE_NOOP("Progress", "loading the tokenizer")},
    {"resizing the embeddings", QT_TRANSLATE_NOOP("Progress", "resizing the embeddings")},
    {"reading ", QT_TRANSLATE_NOOP("Progress", "reading %1")},
    {"hashing ", QT_TRANSLATE_NOOP("Progress", "hashing %1")},
    {"fetching ", QT_TRANSLATE_NOOP("Progress", "fetching %1")},
    {"verifying the checkpoint", QT_TRANSLATE_NOOP("Progress", "verifying the checkpoint")},
    {"making the example", QT_TRANSLATE_NOOP("Progress", "making the example")},
    // setting up
    {"making the Python environment", QT_TRANSLATE_NOOP("Progress", "making the Python environment")},
    {"waiting for another set-up to finish",
     QT_TRANSLATE_NOOP("Progress", "waiting for another set-up to finish")},
    {"looking for the packages", QT_TRANSLATE_NOOP("Progress", "looking for the packages")},
    {"downloading ", QT_TRANSLATE_NOOP("Progress", "downloading %1")},
    {"unpacking the packages", QT_TRANSLATE_NOOP("Progress", "unpacking the packages")},
    // other machines
    {"connecting to the nodes", QT_TRANSLATE_NOOP("Progress", "connecting to the nodes")},
    {"connecting to ", QT_TRANSLATE_NOOP("Progress", "connecting to %1")},
    {"sending to ", QT_TRANSLATE_NOOP("Progress", "sending to %1")},
    {"installing LibTorch on ", QT_TRANSLATE_NOOP("Progress", "installing LibTorch on %1")},
    {"looking at what is on ", QT_TRANSLATE_NOOP("Progress", "looking at what is on %1")},
    {"waiting for the end of Slurm job ",
     QT_TRANSLATE_NOOP("Progress", "waiting for the end of Slurm job %1")},
    {"waiting for ", QT_TRANSLATE_NOOP("Progress", "waiting for %1")},
    {"self-test", QT_TRANSLATE_NOOP("Progress", "self-test")},
    {"measuring links", QT_TRANSLATE_NOOP("Progress", "measuring links")},
    {"measuring: ", QT_TRANSLATE_NOOP("Progress", "measuring: %1")},
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

}  // namespace ringmaster
