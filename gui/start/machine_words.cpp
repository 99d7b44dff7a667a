#include <QCoreApplication>
#include <QDir>

#include "gui/look/numbers.h"
#include "gui/session/finding_words.h"
#include "gui/start/machine_card.h"
#include "launcher/machine/gpu_age.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct MachineWords {
    Q_DECLARE_TR_FUNCTIONS(MachineWords)
};

/// Returns "2 × NVIDIA H200, 141 GiB" for equal GPUs, otherwise a list.
QString gpuWords(const std::vector<Gpu>& gpus) {
    QStringList words;
    for (size_t first = 0; first < gpus.size();) {
        size_t next = first;
        while (next < gpus.size() && gpus[next].name == gpus[first].name &&
               gpus[next].memory_bytes == gpus[first].memory_bytes)
            ++next;
        QString one = QString::fromStdString(gpus[first].name);
        if (next - first > 1) one = u"%1 \u00D7 %2"_s.arg(next - first).arg(one);
        words << show::listed(
            {one, gpus[first].memory_bytes > 0 ? show::bytes(gpus[first].memory_bytes) : QString()});
        first = next;
    }
    return show::clauses(words);
}

CheckWords deviceWords(const MachineFacts& facts) {
    const QString topic = MachineWords::tr("Devices");
    const Machine& machine = facts.machine;
    if (machine.gpus.empty()) {
        const QString cores = MachineWords::tr("%n core(s)", nullptr, machine.cores);
        if (!facts.driver.empty())
            return {topic, MachineWords::tr("%1; the NVIDIA driver shows no GPU").arg(cores),
                    MachineWords::tr("Look at CUDA_VISIBLE_DEVICES and nvidia-smi.")};
        return {topic, MachineWords::tr("%1, no NVIDIA GPU").arg(cores),
                MachineWords::tr("Plans for any number of GPUs, trains on the processor.")};
    }
    const QString what = gpuWords(machine.gpus);
    const auto old = old_gpu_finding(machine.gpus, machine.gpus.size(), Severity::Warning);
    return {topic,
            facts.driver.empty()
                ? what
                : MachineWords::tr("%1; driver %2").arg(what, QString::fromStdString(facts.driver)),
            old ? message_of(*old) : QString()};
}

CheckWords diskWords(const QString& topic, const MachineCheck& check, const DiskSpace& disk) {
    if (disk.total_bytes == 0) return {topic, MachineWords::tr("The free space cannot be read."), {}};
    return {topic, MachineWords::tr("%1 free").arg(show::bytes(disk.free_bytes)),
            check.state == CheckState::Ok ? QString()
                                          : MachineWords::tr("Little room: a run could fill the disk.")};
}

CheckWords sshWords(const MachineFacts& facts) {
    const QString hosts = MachineWords::tr("%n host(s) in ~/.ssh/config", nullptr, facts.ssh_hosts);
    const QString start = u"\neval $(ssh-agent) && ssh-add"_s;
    switch (facts.ssh_agent) {
        case SshAgent::Answers:
            return {MachineWords::tr("SSH"), MachineWords::tr("agent answers; %1").arg(hosts), {}};
        case SshAgent::Silent:
            return {MachineWords::tr("SSH"), MachineWords::tr("agent does not answer; %1").arg(hosts),
                    MachineWords::tr("Start it again: %1").arg(start)};
        case SshAgent::None:
            break;
    }
    return {MachineWords::tr("SSH"), MachineWords::tr("no agent; %1").arg(hosts),
            MachineWords::tr("Needed for other machines only: %1").arg(start)};
}

}  // namespace

CheckWords wordsOf(const MachineCheck& check, const MachineFacts& facts) {
    const QString torch = QString::fromStdString(facts.torch_version);
    const bool good = check.state == CheckState::Ok;
    switch (check.topic) {
        case Topic::Devices:
            return deviceWords(facts);
        case Topic::Engine:
            return {MachineWords::tr("Engine"),
                    good ? MachineWords::tr("installed") : MachineWords::tr("missing"),
                    good ? QString() : MachineWords::tr("Install or build Ringmaster whole.")};
        case Topic::Cuda:
            return {MachineWords::tr("CUDA"),
                    good ? MachineWords::tr("the engine's CUDA part is there")
                         : MachineWords::tr("not in this build: GPUs stay unused"),
                    good ? QString() : MachineWords::tr("Build it again without RINGMASTER_CUDA=off.")};
        case Topic::Python:
            return {MachineWords::tr("LibTorch"),
                    good ? MachineWords::tr("%1, set up").arg(torch)
                         : MachineWords::tr("%1 is not set up yet").arg(torch),
                    good ? QString()
                         : MachineWords::tr(
                               "Planning works without it; training needs it (about 3 GB to load).")};
        case Topic::Memory:
            return {MachineWords::tr("Memory"),
                    MachineWords::tr("%1 of %2 available")
                        .arg(show::bytes(facts.available_bytes), show::bytes(facts.machine.ram_bytes)),
                    {}};
        case Topic::RunsDisk:
            return diskWords(MachineWords::tr("Runs"), check, facts.runs);
        case Topic::CacheDisk:
            return diskWords(MachineWords::tr("Cache"), check, facts.cache);
        case Topic::Ssh:
            break;
    }
    return sshWords(facts);
}

}  // namespace ringmaster
