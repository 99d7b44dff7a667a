// Converts reports of machines to JSON and back, and checks this machine.
#include <QProcess>
#include <nlohmann/json.hpp>

#include "launcher/machine.h"
#include "launcher/nodes/facts.h"

namespace ringmaster {

using Json = nlohmann::json;

namespace {

constexpr int kPatienceMs = 60'000;

NodeVerdict verdict_of(const std::string& word) {
    for (const NodeVerdict verdict : {NodeVerdict::Ready, NodeVerdict::Warning, NodeVerdict::Unusable}) {
        if (word == to_string(verdict)) return verdict;
    }
    return NodeVerdict::Unreachable;
}

Json gpu_to_json(const NodeGpu& gpu) {
    return {{"index", gpu.index},
            {"name", gpu.name},
            {"memory_bytes", gpu.memory_bytes},
            {"used_bytes", gpu.used_bytes},
            {"users", gpu.users},
            {"capability", gpu.capability}};
}

Json facts_to_json(const NodeFacts& of) {
    return {{"host_name", of.host_name},
            {"architecture", of.architecture},
            {"glibc", of.glibc},
            {"cores", of.cores},
            {"memory_bytes", of.memory_bytes},
            {"available_bytes", of.available_bytes},
            {"data_dir", of.data_dir},
            {"disk_free_bytes", of.disk_free_bytes},
            {"driver", of.driver},
            {"libtorch", of.libtorch},
            {"has_pip", of.has_pip},
            {"clock_ahead_s", of.clock_ahead_s},
            {"shell_prints", of.noise},
            {"address", of.address}};
}

NodeFacts facts_from_json(const Json& json) {
    NodeFacts facts;
    facts.host_name = json.at("host_name");
    facts.architecture = json.at("architecture");
    facts.glibc = json.at("glibc");
    facts.cores = json.at("cores");
    facts.memory_bytes = json.at("memory_bytes");
    facts.available_bytes = json.at("available_bytes");
    facts.data_dir = json.at("data_dir");
    facts.disk_free_bytes = json.at("disk_free_bytes");
    facts.driver = json.at("driver");
    facts.libtorch = json.at("libtorch");
    facts.clock_ahead_s = json.at("clock_ahead_s");
    facts.noise = json.at("shell_prints");
    facts.address = json.at("address");
    facts.has_pip = json.value("has_pip", false);
    return facts;
}

Json finding_to_json(const NodeFinding& finding) {
    Json json = {{"code", finding.code}, {"with", finding.with}, {"parts", Json::array()}};
    for (const NodeFinding& part : finding.parts) json["parts"].push_back(finding_to_json(part));
    return json;
}

NodeFinding finding_from_json(const Json& json) {
    NodeFinding finding{json.at("code"), json.at("with"), {}};
    for (const Json& part : json.at("parts")) finding.parts.push_back(finding_from_json(part));
    return finding;
}

Json deep_to_json(const DeepReport& of) {
    Json links = Json::array();
    for (const NodeLink& link : of.links) {
        links.push_back({{"to", link.to},
                         {"bytes_per_s", link.bytes_per_s},
                         {"latency_s", link.latency_s},
                         {"problem", link.problem}});
    }
    return {{"libtorch", of.libtorch}, {"passed", of.passed},      {"seconds", of.seconds},
            {"tried", of.tried},       {"towards", of.towards},    {"interface", of.interface},
            {"address", of.address},   {"links", std::move(links)}};
}

DeepReport deep_from_json(const Json& json) {
    DeepReport deep{json.at("libtorch"), json.at("passed"),    json.at("seconds"), json.at("tried"),
                    json.at("towards"),  json.at("interface"), json.at("address"), {}};
    for (const Json& link : json.at("links"))
        deep.links.push_back(
            {link.at("to"), link.at("bytes_per_s"), link.at("latency_s"), link.at("problem")});
    return deep;
}

/// Keeps only the GPUs that a run of this process could use.
void leave_visible(NodeFacts& facts) {
    std::vector<NodeGpu> visible;
    for (const Gpu& seen : this_machine().gpus) {
        for (const NodeGpu& gpu : facts.gpus) {
            if (gpu.index == seen.index) visible.push_back(gpu);
        }
    }
    facts.gpus = std::move(visible);
}

}  // namespace

NodeReport check_this_machine(const ProgramNeeds& needs) {
    QProcess shell;
    shell.start(QStringLiteral("/bin/sh"), {QStringLiteral("-s")});
    shell.write(QByteArray::fromStdString(facts_script(needs)));
    shell.closeWriteChannel();
    if (!shell.waitForFinished(kPatienceMs)) {
        shell.kill();
        shell.waitForFinished();
        NodeReport silent;
        silent.found(NodeVerdict::Unreachable, {"command-hangs", {std::to_string(kPatienceMs / 1000)}});
        return silent;
    }
    NodeFacts facts = parse_facts(shell.readAllStandardOutput().toStdString());
    leave_visible(facts);
    NodeReport report = judge_node(facts.host_name, facts, needs);
    if (lacks_libtorch(report))
        report.found(NodeVerdict::Unusable, {"no-libtorch-here", {needs.torch_version}});
    return report;
}

Json report_to_json(const NodeReport& report) {
    Json devices = Json::array();
    if (report.facts) {
        for (const NodeGpu& gpu : report.facts->gpus) devices.push_back(gpu_to_json(gpu));
    }
    return {{"host", report.host},
            {"state", to_string(report.state)},
            {"devices", std::move(devices)},
            {"message", report.message},
            {"next", report.next},
            {"facts", report.facts ? facts_to_json(*report.facts) : Json()},
            {"finding", finding_to_json(report.finding)},
            {"through", report.through},
            {"deep", report.deep ? deep_to_json(*report.deep) : Json()},
            {"ignored_directives", report.ignored}};
}

NodeReport report_from_json(const Json& json) {
    NodeReport report{json.at("host"), verdict_of(json.at("state")), json.at("message"), json.at("next"),
                      std::nullopt,    json.at("ignored_directives")};
    if (json.contains("finding")) report.finding = finding_from_json(json.at("finding"));
    report.through = json.value("through", "");
    if (json.contains("deep") && !json.at("deep").is_null()) report.deep = deep_from_json(json.at("deep"));
    if (json.at("facts").is_null()) return report;
    report.facts = facts_from_json(json.at("facts"));
    for (const Json& gpu : json.at("devices")) {
        report.facts->gpus.push_back(
            {gpu.at("index"), gpu.at("name"), gpu.at("memory_bytes"), gpu.at("used_bytes"), gpu.at("users"),
             gpu.value("capability", "")});
    }
    return report;
}

}  // namespace ringmaster
