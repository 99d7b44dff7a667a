#include "launcher/slurm/partitions.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "engine/error.h"
#include "launcher/slurm/site.h"

namespace ringmaster {

namespace {

/// Fields: name, up or down, time limit, nodes, nodes by state, gres, and a node's CPUs and MiB.
constexpr const char* kFormat = "--format=%P|%a|%l|%D|%F|%G|%c|%m";
constexpr size_t kFields = 8;

/// Parses a count. Slurm prints "64+" if nodes differ and 64 is the minimum; this counts as 64.
int64_t whole(const std::string& text) {
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, '|');) fields.push_back(part);
    return fields;
}

/// Returns the idle nodes of "allocated/idle/other/total".
int idle_of(const std::string& by_state) {
    const size_t slash = by_state.find('/');
    return slash == std::string::npos ? 0 : static_cast<int>(whole(by_state.substr(slash + 1)));
}

SlurmPartition partition_of(const std::vector<std::string>& fields) {
    SlurmPartition partition;
    partition.name = fields[0];
    partition.is_default = partition.name.ends_with('*');
    if (partition.is_default) partition.name.pop_back();
    partition.is_up = fields[1] == "up";
    partition.time_limit = fields[2];
    partition.nodes = static_cast<int>(whole(fields[3]));
    partition.idle = idle_of(fields[4]);
    if (fields[5] != "(null)") partition.gres = fields[5];
    partition.cpus = static_cast<int>(whole(fields[6]));
    partition.memory_bytes = whole(fields[7]) << 20;
    return partition;
}

/// Adds another kind of node to a partition that is already listed.
void join(SlurmPartition& known, const SlurmPartition& more) {
    known.nodes += more.nodes;
    known.idle += more.idle;
    if (!more.gres.empty() && known.gres.find(more.gres) == std::string::npos)
        known.gres += (known.gres.empty() ? "" : " or ") + more.gres;
    known.cpus = std::min(known.cpus, more.cpus);
    known.memory_bytes = std::min(known.memory_bytes, more.memory_bytes);
}

}  // namespace

std::vector<SlurmPartition> parse_sinfo(const std::string& out) {
    std::vector<SlurmPartition> partitions;
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
        const std::vector<std::string> fields = fields_of(line);
        if (fields.size() < kFields) continue;
        const SlurmPartition next = partition_of(fields);
        const auto known = std::find_if(partitions.begin(), partitions.end(),
                                        [&](const SlurmPartition& one) { return one.name == next.name; });
        if (known == partitions.end())
            partitions.push_back(next);
        else
            join(*known, next);
    }
    return partitions;
}

std::vector<SlurmPartition> partitions_of(SlurmSite& site) {
    const CommandEnd end = site.run({"sinfo", "--noheader", kFormat});
    if (end.status != 0) {
        throw Error(Failure::Unreachable, Code("SLURM-ANSWER"),
                    "sinfo does not answer" + (end.errors.empty() ? "" : ": " + end.errors), site.host(),
                    "is the cluster up? `sinfo` in a terminal says the same");
    }
    return parse_sinfo(end.out);
}

}  // namespace ringmaster
