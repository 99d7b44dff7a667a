#include "gui/nodes/node_words.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "engine/events/event_log.h"
#include "gui/look/numbers.h"
#include "gui/session/failure_words.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

struct NodeWords {
    Q_DECLARE_TR_FUNCTIONS(NodeWords)
};

using Facts = std::vector<std::pair<QString, QString>>;

QString text(const std::string& words) {
    return QString::fromStdString(words);
}

const NodeFacts* factsOf(const SavedTarget& entry) {
    return entry.last && entry.last->node.facts ? &*entry.last->node.facts : nullptr;
}

bool isCluster(const SavedTarget& entry) {
    return entry.target.kind == TargetKind::Slurm && entry.last && !entry.last->partitions.empty();
}

QString gpuWords(const NodeGpu& gpu) {
    QStringList parts{text(gpu.name), show::bytes(gpu.memory_bytes)};
    QStringList users;
    for (const std::string& user : gpu.users) users << text(user);
    //: processes on a GPU: %1 are names of people, %2 a size of memory
    if (!users.isEmpty())
        parts << NodeWords::tr("in use by %1 (%2)").arg(show::listed(users), show::bytes(gpu.used_bytes));
    return parts.join(u" \u00B7 "_s);
}

QString partitionWords(const SlurmPartition& partition) {
    QStringList parts{NodeWords::tr("%1 of %n node(s) idle", nullptr, partition.nodes).arg(partition.idle)};
    if (!partition.gres.empty()) parts << text(partition.gres);
    //: processor cores of a node of Slurm
    parts << NodeWords::tr("%n core(s)", nullptr, partition.cpus);
    if (partition.memory_bytes > 0) parts << show::bytes(partition.memory_bytes);
    //: %1 is Slurm's time limit, such as 2-00:00:00
    parts << NodeWords::tr("at most %1").arg(text(partition.time_limit));
    //: state of a partition of Slurm
    if (!partition.is_up) parts << NodeWords::tr("down");
    return parts.join(u" \u00B7 "_s);
}

/// Returns the finding with its sizes and lists written in the app's language.
NodeFinding withFigures(const NodeReport& report) {
    NodeFinding finding = report.finding;
    if (finding.code == "gpu-in-use" && report.facts && finding.with.size() > 2) {
        for (const NodeGpu& gpu : report.facts->gpus) {
            if (std::to_string(gpu.index) == finding.with[0])
                finding.with[2] = show::bytes(gpu.used_bytes).toStdString();
        }
    }
    if (finding.code == "other-libtorch" && finding.with.size() > 1)
        finding.with[1] = show::listed(text(finding.with[1]).split(u", "_s)).toStdString();
    if (!finding.code.starts_with("ready") || !report.facts || finding.with.size() < 4) return finding;
    const NodeFacts& of = *report.facts;
    finding.with[1] = show::bytes(of.available_bytes).toStdString();
    finding.with[2] = show::bytes(of.memory_bytes).toStdString();
    finding.with[3] = show::bytes(of.disk_free_bytes).toStdString();
    return finding;
}

QString workWords(CheckKind kind, const ProgressStep& step) {
    const QString done = show::bytes(step.done);
    switch (kind) {
        case CheckKind::Look:
            break;
        case CheckKind::TryOut:
            if (step.is_bytes)
                //: progress of copying the programs: %1 and %2 are sizes
                return NodeWords::tr("Bringing the engine there: %1 of %2")
                    .arg(done, show::bytes(step.total));
            return step.total > 0
                       ? NodeWords::tr("Measuring the links between the machines: %1 of %2")
                             .arg(show::count(step.done), show::count(step.total))
                       : NodeWords::tr("Trying it out: self-test, then the links with the others…");
        case CheckKind::InstallLibTorch:
            if (step.done == 0) return NodeWords::tr("Its pip installs LibTorch…");
            //: %1 is the size downloaded so far
            return NodeWords::tr("Its pip installs LibTorch: %1 so far").arg(done);
        case CheckKind::SendLibTorch:
            if (step.done == 0) return NodeWords::tr("Looking at what LibTorch needs…");
            //: progress of copying: %1 and %2 are sizes
            return NodeWords::tr("Sending LibTorch: %1 of %2").arg(done, show::bytes(step.total));
    }
    return NodeWords::tr("Connecting, logging in, asking the machine…");
}

/// Returns a link's transfer rate per second, such as "1.21 GB".
QString linkWords(const NodeLink& link) {
    if (!link.problem.empty()) return NodeWords::tr("none: %1").arg(text(link.problem));
    const bool giga = link.bytes_per_s >= 1e9;
    const QString rate =
        show::number(link.bytes_per_s / (giga ? 1e9 : 1e6)) + (giga ? u" GB/s"_s : u" MB/s"_s);
    //: a link between two machines: %1 is a rate, %2 a number of microseconds
    return NodeWords::tr("%1 each way at once, %2 µs").arg(rate, show::number(1e6 * link.latency_s));
}

void addTrial(Facts& facts, const DeepReport& deep, double now) {
    facts.emplace_back(NodeWords::tr("Self-test"),
                       //: a self-test: %1 is a duration, %2 a version, %3 how long ago
                       NodeWords::tr("passed in %1 with LibTorch %2, %3")
                           .arg(show::duration(deep.seconds), text(deep.libtorch),
                                show::age(std::max(0.0, now - deep.tried))));
    //: %1 is a machine
    facts.emplace_back(NodeWords::tr("Interface to %1").arg(text(deep.towards)),
                       text(deep.interface) + u" \u00B7 "_s + text(deep.address));
    for (const NodeLink& link : deep.links)
        //: %1 is a machine
        facts.emplace_back(NodeWords::tr("Link with %1").arg(text(link.to)), linkWords(link));
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
    //: a folder and its free space
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

NodeLook lookOf(const SavedTarget& entry, CheckPhase phase) {
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
            //: state of a node: it can train, and there is a remark
            return {NodeWords::tr("ready, with a remark"), RunMark::Damaged, Tone::Warning};
        case NodeVerdict::Unusable:
            //: state of a node: it was reached but cannot train
            return {NodeWords::tr("cannot train"), RunMark::Failed, Tone::Error};
        case NodeVerdict::Unreachable:
            break;
    }
    //: state of a node
    return {NodeWords::tr("not reached"), RunMark::Failed, Tone::Error};
}

QString deviceWords(const SavedTarget& entry) {
    if (isCluster(entry)) {
        int nodes = 0, idle = 0;
        for (const SlurmPartition& partition : entry.last->partitions) {
            nodes += partition.nodes;
            idle += partition.idle;
        }
        return NodeWords::tr("%1 of %n node(s) idle", nullptr, nodes).arg(idle);
    }
    const NodeFacts* facts = factsOf(entry);
    if (facts == nullptr) return show::unknown();
    if (facts->gpus.empty()) return NodeWords::tr("%n core(s)", nullptr, facts->cores);
    return u"%1 \u00D7 %2"_s.arg(facts->gpus.size()).arg(text(facts->gpus.front().name));
}

QString memoryWords(const SavedTarget& entry) {
    if (isCluster(entry)) {
        const auto less = [](const SlurmPartition& a, const SlurmPartition& b) {
            return a.memory_bytes < b.memory_bytes;
        };
        const auto& all = entry.last->partitions;
        const int64_t least = std::min_element(all.begin(), all.end(), less)->memory_bytes;
        //: main memory of the nodes of a cluster: %1 is a size
        return least > 0 ? NodeWords::tr("at least %1 RAM per node").arg(show::bytes(least))
                         : show::unknown();
    }
    const NodeFacts* facts = factsOf(entry);
    if (facts == nullptr) return show::unknown();
    if (!facts->gpus.empty())
        //: memory of a machine's GPUs: %1 is a size
        return NodeWords::tr("%1 per GPU").arg(show::bytes(facts->gpus.front().memory_bytes));
    //: a machine's main memory: %1 and %2 are sizes
    return NodeWords::tr("%1 of %2 RAM free")
        .arg(show::bytes(facts->available_bytes), show::bytes(facts->memory_bytes));
}

QString ageWords(const SavedTarget& entry, double now) {
    return entry.last ? show::age(std::max(0.0, now - entry.last->checked)) : show::unknown();
}

QString foundWords(const NodeReport& report) {
    if (finding_text(report.finding.code) == nullptr) return note_of(report.message);
    const QString found = findingWords(withFigures(report));
    return report.through.empty() ? found : show::said_of(text(report.through), found);
}

namespace {

/// Returns the partitions that take jobs, in the app's language; the finding has them in English.
QString offerWords(const std::vector<SlurmPartition>& partitions) {
    QStringList offers;
    for (const SlurmPartition& partition : partitions)
        if (partition.is_up) offers << u"%1 (%2)"_s.arg(text(partition.name), partitionWords(partition));
    return show::clauses(offers);
}

}  // namespace

QString messageWords(const NodeChecks& checks, int row) {
    const CheckPhase phase = checks.phase(row);
    if (phase == CheckPhase::Checking) return workWords(checks.kind(row), checks.step(row));
    if (phase == CheckPhase::Waiting) return NodeWords::tr("Eight are checked at a time.");
    const SavedTarget& entry = checks.entry(row);
    if (!entry.last) return {};
    NodeReport report = entry.last->node;
    if (report.finding.code == "takes-jobs" && !entry.last->partitions.empty())
        report.finding.with = {offerWords(entry.last->partitions).toStdString()};
    return foundWords(report);
}

QString nextWords(const NodeReport& report) {
    return finding_text(report.finding.code) == nullptr ? note_of(report.next) : findingNext(report.finding);
}

Facts factWords(const SavedTarget& entry) {
    Facts facts;
    if (!entry.last) return facts;
    for (const SlurmPartition& partition : entry.last->partitions)
        facts.emplace_back(text(partition.name) + (partition.is_default ? u" *"_s : QString()),
                           partitionWords(partition));
    const NodeFacts* of = factsOf(entry);
    if (entry.last->node.deep) addTrial(facts, *entry.last->node.deep, unix_now());
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
