#include "gui/session/app_ways.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <vector>

namespace ringmaster {

namespace {

/// A command or an option in a hint of any language, and the app's sentence; %1 is what the pattern captures.
struct Way {
    const char *pattern, *text;
    bool is_part = false;  ///< replaces what the pattern matches, not the whole hint
};

// clang-format off
constexpr Way kWays[] = {
    {"`ringmaster setup`", QT_TRANSLATE_NOOP("AppWays", "Press Set up on the Start page.")},
    {"`ringmaster resume [^` ]+` once", QT_TRANSLATE_NOOP("AppWays", "Press Resume in Monitor once all nodes are there again.")},
    {"`ringmaster resume [^` ]+`", QT_TRANSLATE_NOOP("AppWays", "Press Resume in Monitor.")},
    {"output_dir.*`ringmaster watch", QT_TRANSLATE_NOOP("AppWays", "Give it another output_dir, or wait until the other run has ended.")},
    {"`ringmaster stop", QT_TRANSLATE_NOOP("AppWays", "Stop the run in Monitor.")},
    {"`ringmaster watch [^`/]", QT_TRANSLATE_NOOP("AppWays", "Open the run in Monitor.")},
    {"`ringmaster runs --delete", QT_TRANSLATE_NOOP("AppWays", "Delete it on the Runs page.")},
    {"`ringmaster runs`", QT_TRANSLATE_NOOP("AppWays", "The Runs page lists the runs.")},
    {"`ringmaster fetch`", QT_TRANSLATE_NOOP("AppWays", "Wait for its end. The Runs page brings a model from another machine here.")},
    {"`ringmaster queue remove", QT_TRANSLATE_NOOP("AppWays", "Remove it on the Queue page.")},
    {"`ringmaster queue`", QT_TRANSLATE_NOOP("AppWays", "The Queue page lists what waits.")},
    {"`ringmaster merge`", QT_TRANSLATE_NOOP("AppWays", "Press Merge… first, then convert the merged model.")},
    {"`ringmaster generate`", QT_TRANSLATE_NOOP("AppWays", "The page Try it takes completed runs.")},
    {"`ringmaster prepare` fetches", QT_TRANSLATE_NOOP("AppWays", "Launch fetches the model.")},
    {"ringmaster export RUN --format tensorboard", QT_TRANSLATE_NOOP("AppWays", "On the Runs page, Export for TensorBoard… writes its files.")},
    {"--overwrite", QT_TRANSLATE_NOOP("AppWays", "Name another output_dir, or press Overwrite.")},
    {"--set output_dir=", QT_TRANSLATE_NOOP("AppWays", "Give it another output_dir on the Plan page.")},
    {"--libtorch pip", QT_TRANSLATE_NOOP("AppWays", "On the Nodes page, Install LibTorch has that machine's pip bring it (a download of 2.8 GB), and Send LibTorch copies the part that is needed from here.")},
    {"PyPI.*--libtorch copy", QT_TRANSLATE_NOOP("AppWays", "Does that machine reach PyPI? On the Nodes page, Send LibTorch brings it from here.")},
    {"--libtorch copy", QT_TRANSLATE_NOOP("AppWays", "On the Nodes page, Send LibTorch brings it from here.")},
    {"(`ssh-keygen[^`]*`).*--trust-on-first-use", QT_TRANSLATE_NOOP("AppWays", "Compare it with what %1 prints there; then press Check on the Nodes page, and trust it.")},
    {"--node gpu1", QT_TRANSLATE_NOOP("AppWays", "Name it as [user@]host[:port], such as gpu1 or ann@10.0.0.7:2222.")},
    {"`--node .*--slurm", QT_TRANSLATE_NOOP("AppWays", "Choose the Slurm of a login node.")},
    {"\\(--node\\)", QT_TRANSLATE_NOOP("AppWays", "Choose machines over SSH or Slurm, or set Nodes to 1 on the Plan page.")},
    {"--slurm nodes=", QT_TRANSLATE_NOOP("AppWays", "Nodes, under Slurm, says how many nodes the job gets.")},
    {"--slurm mem=", QT_TRANSLATE_NOOP("AppWays", "Launch it with more memory (mem=… under More), a shorter sequence_len, or more ranks.")},
    {"--dry-run", QT_TRANSLATE_NOOP("AppWays", "Ringmaster writes the script; the launch dialog shows it.")},
    {"--accelerate", QT_TRANSLATE_NOOP("AppWays", "Open an axolotl YAML, and choose this one as the accelerate file on the Plan page.")},
    {"--device-memory", QT_TRANSLATE_NOOP("AppWays", "Set Device memory on the Plan page.")},
    {"CUDA_VISIBLE_DEVICES.*--device cpu", QT_TRANSLATE_NOOP("AppWays", "Leave it out with CUDA_VISIBLE_DEVICES, choose CPU as Device on the Plan page, or use a machine with a newer GPU.")},
    {"NVIDIA\\D*(\\d[\\d.]*).*--device cpu", QT_TRANSLATE_NOOP("AppWays", "Install NVIDIA driver %1 or newer there, or choose CPU as Device on the Plan page.")},
    {"--ranks (\\d+), or --device cpu", QT_TRANSLATE_NOOP("AppWays", "Set Ranks to %1, or Device to CPU, on the Plan page.")},
    {"--ranks (\\d+)", QT_TRANSLATE_NOOP("AppWays", "Ranks: %1"), true},
    {"--ranks|--device cpu", QT_TRANSLATE_NOOP("AppWays", "Set Ranks and Device on the Plan page.")},
    {"make room.*--to\\b", QT_TRANSLATE_NOOP("AppWays", "Make room, or choose another folder.")},
    {"--to\\b", QT_TRANSLATE_NOOP("AppWays", "Choose a new folder.")},
};
// clang-format on

const std::vector<QRegularExpression>& patterns() {
    static const std::vector<QRegularExpression> all = [] {
        std::vector<QRegularExpression> made;
        for (const Way& way : kWays)
            made.emplace_back(QString::fromLatin1(way.pattern),
                              QRegularExpression::DotMatchesEverythingOption);
        return made;
    }();
    return all;
}

}  // namespace

QString way_in_app(const QString& hint) {
    if (!hint.contains(u"--") && !hint.contains(u"ringmaster ")) return hint;
    for (size_t at = 0; at < std::size(kWays); ++at) {
        const QRegularExpressionMatch found = patterns()[at].match(hint);
        if (!found.hasMatch()) continue;
        QString text = QCoreApplication::translate("AppWays", kWays[at].text);
        if (found.lastCapturedIndex() > 0) text = text.arg(found.captured(1));
        if (!kWays[at].is_part) return text;
        return QString(hint).replace(found.capturedStart(), found.capturedLength(), text);
    }
    return hint;
}

}  // namespace ringmaster
