#include "gui/session/app_ways.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

namespace ringmaster {

namespace {

struct Way {
    std::string_view code;
    const char* text;
};

// clang-format off
constexpr Way kWays[] = {
    {"unknown-host-key", QT_TRANSLATE_NOOP("AppWays", "Compare it with what `ssh-keygen -lf /etc/ssh/ssh_host_%3_key.pub` prints there; then press Check on the Nodes page, and trust it.")},
    {"no-libtorch", QT_TRANSLATE_NOOP("AppWays", "On the Nodes page, Install LibTorch has that machine's pip bring it (a download of 2.8 GB), and Send LibTorch copies the part that is needed from here.")},
    {"other-libtorch", QT_TRANSLATE_NOOP("AppWays", "On the Nodes page, Install LibTorch has that machine's pip bring it (a download of 2.8 GB), and Send LibTorch copies the part that is needed from here.")},
    {"no-libtorch-here", QT_TRANSLATE_NOOP("AppWays", "Press “Set up” on the Start page.")},
    {"no-libtorch-no-pip", QT_TRANSLATE_NOOP("AppWays", "On the Nodes page, Send LibTorch brings it from here.")},
    {"pip-failed", QT_TRANSLATE_NOOP("AppWays", "Does that machine reach PyPI? On the Nodes page, Send LibTorch brings it from here.")},
    {"old-driver", QT_TRANSLATE_NOOP("AppWays", "Install NVIDIA driver %2 or newer there, or choose CPU as Device on the Plan page.")},
    {"old-gpu", QT_TRANSLATE_NOOP("AppWays", "Leave it out with CUDA_VISIBLE_DEVICES, choose CPU as Device on the Plan page, or use a machine with a newer GPU.")},
    {"slurm-memory-next", QT_TRANSLATE_NOOP("AppWays", "Launch it with more memory (mem=… under More), a shorter sequence_len, or more ranks.")},
    {"slurm-node-next", QT_TRANSLATE_NOOP("AppWays", "Press Resume in Monitor.")},
    {"slurm-output-next", QT_TRANSLATE_NOOP("AppWays", "The run directory has to be on a file system that the nodes share.")},
    {"resume-next", QT_TRANSLATE_NOOP("AppWays", "Press Resume in Monitor.")},
};
// clang-format on

}  // namespace

QString app_way(std::string_view code) {
    const auto* way =
        std::find_if(std::begin(kWays), std::end(kWays), [&](const Way& one) { return one.code == code; });
    return way == std::end(kWays) ? QString() : QCoreApplication::translate("AppWays", way->text);
}

}  // namespace ringmaster
