#include "gui/nodes/node_words.h"

#include <QCoreApplication>
#include <QStringList>
#include <cmath>

#include "gui/look/numbers.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct NodeWords {
    Q_DECLARE_TR_FUNCTIONS(NodeWords)
};

constexpr double kClockTolerance_s = 30;  ///< as the check has it

using Facts = std::vector<std::pair<QString, QString>>;

QString text(const std::string& words) {
    return QString::fromStdString(words);
}

const NodeFacts* factsOf(const RosterEntry& entry) {
    return entry.last && entry.last->node.facts ? &*entry.last->node.facts : nullptr;
}

QString gpuWords(const NodeGpu& gpu) {
    QStringList parts{text(gpu.name), show::bytes(gpu.memory_bytes)};
    QStringList users;
    for (const std::string& user : gpu.users) users << text(user);
    //: of a GPU: %1 are names of people, %2 a size of memory
    if (!users.isEmpty())
        parts << NodeWords::tr("in use by %1 (%2)").arg(users.join(u", "_s), show::bytes(gpu.used_bytes));
    return parts.join(u" \u00B7 "_s);
}

QString partitionWords(const SlurmPartition& partition) {
    QStringList parts{NodeWords::tr("%1 of %n node(s) idle", nullptr, partition.nodes).arg(partition.idle)};
    if (!partition.gres.empty()) parts << text(partition.gres);
    //: of a node of Slurm
    parts << NodeWords::tr("%n core(s)", nullptr, partition.cpus);
    if (partition.memory_bytes > 0) parts << show::bytes(partition.memory_bytes);
    //: %1 is Slurm's time limit, such as 2-00:00:00
    parts << NodeWords::tr("at most %1").arg(text(partition.time_limit));
    //: of a partition of Slurm
    if (!partition.is_up) parts << NodeWords::tr("down");
    return parts.join(u" \u00B7 "_s);
}

void addMachine(Facts& facts, const NodeFacts& of) {
    facts.emplace_back(NodeWords::tr("Host name"), text(of.host_name));
    facts.emplace_back(NodeWords::tr("System"), of.glibc.empty()
                                                    ? text(of.architecture)
                                                    : text(of.architecture + ", glibc " + of.glibc));
    facts.emplace_back(NodeWords::tr("Cores"), show::count(of.cores));
    facts.emplace_back(
        NodeWords::tr("Memory"),
        NodeWords::tr("%1 of %2 free").arg(show::bytes(of.available_bytes), show::bytes(of.memory_bytes)));
    if (of.gpus.empty()) facts.emplace_back(NodeWords::tr("GPUs"), NodeWords::tr("none"));
    for (const NodeGpu& gpu : of.gpus) facts.emplace_back(u"GPU %1"_s.arg(gpu.index), gpuWords(gpu));
    if (!of.driver.empty()) facts.emplace_back(NodeWords::tr("NVIDIA driver"), text(of.driver));
}

void addPlaces(Facts& facts, const NodeFacts& of) {
    facts.emplace_back(u"LibTorch"_s, of.libtorch.empty() ? NodeWords::tr("not found") : text(of.libtorch));
    //: a folder, and how much room there is
    facts.emplace_back(NodeWords::tr("Files go to"),
                       NodeWords::tr("%1, %2 free").arg(text(of.data_dir), show::bytes(of.disk_free_bytes)));
    if (!of.address.empty()) facts.emplace_back(NodeWords::tr("Address"), text(of.address));
    if (std::abs(of.clock_ahead_s) > kClockTolerance_s) {
        const QString off = show::duration(std::abs(of.clock_ahead_s));
        facts.emplace_back(NodeWords::tr("Clock"), of.clock_ahead_s > 0
                                                       ? NodeWords::tr("%1 ahead").arg(off)
                                                       : NodeWords::tr("%1 behind").arg(off));
    }
}

}  // namespace

QString targetName(const Target& target) {
    switch (target.kind) {
        case TargetKind::Here:
            return NodeWords::tr("This machine");
        case TargetKind::Ssh:
            return text(target.host);
        case TargetKind::Slurm:
            break;
    }
    //: jobs are submitted with the commands of this machine
    if (target.host.empty()) return NodeWords::tr("Slurm here");
    //: %1 is a login node
    return NodeWords::tr("Slurm through %1").arg(text(target.host));
}

NodeLook lookOf(const RosterEntry& entry, CheckPhase phase) {
    //: state of a node
    if (phase == CheckPhase::Checking) return {NodeWords::tr("checking"), RunMark::Preparing, Tone::Plain};
    //: state of a node: its check has not begun
    if (phase == CheckPhase::Waiting) return {NodeWords::tr("waiting"), RunMark::Waiting, Tone::Plain};
    //: state of a node
    if (!entry.last) return {NodeWords::tr("not checked"), RunMark::Waiting, Tone::Plain};
    switch (entry.last->node.state) {
        case NodeVerdict::Ready:
            //: state of a node: it can train
            return {NodeWords::tr("ready"), RunMark::Completed, Tone::Good};
        case NodeVerdict::Warning:
            //: state of a node: it can train, and something is worth knowing
            return {NodeWords::tr("ready, with a remark"), RunMark::Damaged, Tone::Warning};
        case NodeVerdict::Unusable:
            //: state of a node: reached, and cannot train
            return {NodeWords::tr("cannot train"), RunMark::Stopped, Tone::Error};
        case NodeVerdict::Unreachable:
            break;
    }
    //: state of a node
    return {NodeWords::tr("not reached"), RunMark::Failed, Tone::Error};
}

QString deviceWords(const RosterEntry& entry) {
    if (entry.target.kind == TargetKind::Slurm && entry.last && !entry.last->partitions.empty())
        return NodeWords::tr("%n partition(s)", nullptr, int(entry.last->partitions.size()));
    const NodeFacts* facts = factsOf(entry);
    if (facts == nullptr) return show::unknown();
    if (facts->gpus.empty()) return NodeWords::tr("%n core(s)", nullptr, facts->cores);
    return u"%1 \u00D7 %2"_s.arg(facts->gpus.size()).arg(text(facts->gpus.front().name));
}

QString memoryWords(const RosterEntry& entry) {
    if (entry.target.kind == TargetKind::Slurm && entry.last && !entry.last->partitions.empty()) {
        int nodes = 0, idle = 0;
        for (const SlurmPartition& partition : entry.last->partitions) {
            nodes += partition.nodes;
            idle += partition.idle;
        }
        return NodeWords::tr("%1 of %n node(s) idle", nullptr, nodes).arg(idle);
    }
    const NodeFacts* facts = factsOf(entry);
    if (facts == nullptr) return show::unknown();
    if (!facts->gpus.empty()) return show::bytes(facts->gpus.front().memory_bytes);
    return NodeWords::tr("%1 of %2 free")
        .arg(show::bytes(facts->available_bytes), show::bytes(facts->memory_bytes));
}

QString ageWords(const RosterEntry& entry, double now) {
    return entry.last ? show::age(std::max(0.0, now - entry.last->checked)) : show::unknown();
}

QString messageWords(const RosterEntry& entry, CheckPhase phase) {
    if (phase == CheckPhase::Checking) return NodeWords::tr("Connecting, logging in, asking the machine…");
    if (phase == CheckPhase::Waiting) return NodeWords::tr("Eight are checked at a time.");
    return entry.last ? text(entry.last->node.message) : QString();
}

Facts factWords(const RosterEntry& entry) {
    Facts facts;
    if (!entry.last) return facts;
    for (const SlurmPartition& partition : entry.last->partitions)
        facts.emplace_back(text(partition.name) + (partition.is_default ? u" *"_s : QString()),
                           partitionWords(partition));
    const NodeFacts* of = factsOf(entry);
    if (of != nullptr) {
        addMachine(facts, *of);
        addPlaces(facts, *of);
    }
    QStringList ignored;
    for (const std::string& directive : entry.last->node.ignored) ignored << text(directive);
    if (!ignored.isEmpty())
        facts.emplace_back(NodeWords::tr("Of ~/.ssh/config, without effect here"), ignored.join(u'\n'));
    return facts;
}

}  // namespace ringmaster
