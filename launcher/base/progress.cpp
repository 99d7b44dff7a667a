#include "launcher/base/progress.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/bare_texts.h"
#include "engine/filled_in.h"
#include "engine/translatable.h"

namespace ringmaster {

namespace {

// clang-format off
constexpr auto kTexts = std::to_array<std::pair<std::string_view, const char*>>({
    // Phases of a rank
    {"rendezvous", QT_TRANSLATE_NOOP("Progress", "the ranks meet")},
    {"load", QT_TRANSLATE_NOOP("Progress", "loading the model")},
    {"tokenize", QT_TRANSLATE_NOOP("Progress", "tokenizing")},
    {"preflight", QT_TRANSLATE_NOOP("Progress", "proving the mesh")},
    {"reference", QT_TRANSLATE_NOOP("Progress", "computing the reference")},
    {"rollouts", QT_TRANSLATE_NOOP("Progress", "waiting for files of rollouts")},
    {"train", QT_TRANSLATE_NOOP("Progress", "training")},
    {"export", QT_TRANSLATE_NOOP("Progress", "saving the final model")},

    // Preparing rows and models
    {"tokenizer", QT_TRANSLATE_NOOP("Progress", "loading the tokenizer")},
    {"embeddings", QT_TRANSLATE_NOOP("Progress", "resizing the embeddings")},
    {"read", QT_TRANSLATE_NOOP("Progress", "reading %1")},
    {"hash", QT_TRANSLATE_NOOP("Progress", "hashing %1")},
    {"fetch", QT_TRANSLATE_NOOP("Progress", "fetching %1")},
    {"write", QT_TRANSLATE_NOOP("Progress", "writing the rows")},
    {"write-evaluation", QT_TRANSLATE_NOOP("Progress", "writing the evaluation rows")},
    {"pack-upload", QT_TRANSLATE_NOOP("Progress", "preparing the upload")},
    {"upload", QT_TRANSLATE_NOOP("Progress", "uploading to %1")},
    {"gguf", QT_TRANSLATE_NOOP("Progress", "converting to GGUF")},
    {"verify", QT_TRANSLATE_NOOP("Progress", "verifying the checkpoint")},
    {"example", QT_TRANSLATE_NOOP("Progress", "making the example")},

    // Setting up
    {"environment", QT_TRANSLATE_NOOP("Progress", "making the Python environment")},
    {"other-set-up", QT_TRANSLATE_NOOP("Progress", "waiting for another set-up to finish")},
    {"packages", QT_TRANSLATE_NOOP("Progress", "looking for the packages")},
    {"download", QT_TRANSLATE_NOOP("Progress", "downloading %1")},
    {"unpack", QT_TRANSLATE_NOOP("Progress", "unpacking the packages")},

    // Other machines
    {"connect-nodes", QT_TRANSLATE_NOOP("Progress", "connecting to the nodes")},
    {"connect", QT_TRANSLATE_NOOP("Progress", "connecting to %1")},
    {"send", QT_TRANSLATE_NOOP("Progress", "sending to %1")},
    {"send-nodes", QT_TRANSLATE_NOOP("Progress", "sending to %1 nodes")},
    {"libtorch", QT_TRANSLATE_NOOP("Progress", "installing LibTorch on %1")},
    {"list", QT_TRANSLATE_NOOP("Progress", "looking at what is on %1")},
    {"slurm-end", QT_TRANSLATE_NOOP("Progress", "waiting for the end of Slurm job %1")},
    {"wait", QT_TRANSLATE_NOOP("Progress", "waiting for %1")},
    {"self-test", QT_TRANSLATE_NOOP("Progress", "self-test")},
    {"links", QT_TRANSLATE_NOOP("Progress", "measuring links")},
    {"measure", QT_TRANSLATE_NOOP("Progress", "measuring: %1")},
    {"step-end", QT_TRANSLATE_NOOP("Progress", "waiting for the end of a step")},

    // Shown only on the terminal
    {"bring", "bringing the engine to the nodes"},
    {"stopping", "stopping: step %1%2"},
});
// clang-format on

}  // namespace

const char* progress_text(std::string_view code) {
    const auto* at =
        std::find_if(kTexts.begin(), kTexts.end(), [&](const auto& one) { return one.first == code; });
    return at == kTexts.end() ? nullptr : at->second;
}

std::string english(const ProgressStep& step) {
    const char* text = progress_text(step.code);
    return text == nullptr || bare_texts ? step.code : filled_in(text, step.with);
}

}  // namespace ringmaster
