// Converts reports of machines to JSON and back, and checks this machine.
#include <QProcess>
#include <nlohmann/json.hpp>

#include "engine/json_fields.h"
#include "launcher/machine/machine.h"
#include "launcher/nodes/facts.h"

namespace ringmaster {

template <class Visit>
void each_field(const Visit& visit, Same<NodeGpu> auto& gpu) {
    visit("index", gpu.index);
    visit("name", gpu.name);
    visit("memory_bytes", gpu.memory_bytes);
    visit("used_bytes", gpu.used_bytes);
    visit("users", gpu.users);
    visit.if_any("capability", gpu.capability);
}

template <class Visit>
void each_field(const Visit& visit, Same<NodeFacts> auto& of) {
    visit("host_name", of.host_name);
    visit("architecture", of.architecture);
    visit("glibc", of.glibc);
    visit("cores", of.cores);
    visit("memory_bytes", of.memory_bytes);
    visit("available_bytes", of.available_bytes);
    visit("data_dir", of.data_dir);
    visit("disk_free_bytes", of.disk_free_bytes);
    visit("driver", of.driver);
    visit("libtorch", of.libtorch);
    visit.if_any("has_pip", of.has_pip);
    visit("clock_ahead_s", of.clock_ahead_s);
    visit("shell_prints", of.noise);
    visit("address", of.address);
}

template <class Visit>
void each_field(const Visit& visit, Same<NodeLink> auto& link) {
    visit("to", link.to);
    visit("bytes_per_s", link.bytes_per_s);
    visit("latency_s", link.latency_s);
    visit("problem", link.problem);
}

template <class Visit>
void each_field(const Visit& visit, Same<DeepReport> auto& of) {
    visit("libtorch", of.libtorch);
    visit("passed", of.passed);
    visit("seconds", of.seconds);
    visit("tried", of.tried);
    visit("towards", of.towards);
    visit("interface", of.interface);
    visit("address", of.address);
    visit("links", of.links);
}

using Json = nlohmann::json;

namespace {

constexpr int kPatienceMs = 60'000;

NodeVerdict verdict_of(const std::string& word) {
    for (const NodeVerdict verdict : {NodeVerdict::Ready, NodeVerdict::Warning, NodeVerdict::Unusable}) {
        if (word == to_string(verdict)) return verdict;
    }
    return NodeVerdict::Unreachable;
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
        for (const NodeGpu& gpu : report.facts->gpus) devices.push_back(fields_to_json(gpu));
    }
    return {{"host", report.host},
            {"state", to_string(report.state)},
            {"devices", std::move(devices)},
            {"message", report.message},
            {"next", report.next},
            {"facts", report.facts ? fields_to_json(*report.facts) : Json()},
            {"finding", finding_to_json(report.finding)},
            {"through", report.through},
            {"deep", report.deep ? fields_to_json(*report.deep) : Json()},
            {"ignored_directives", report.ignored}};
}

NodeReport report_from_json(const Json& json) {
    NodeReport report{json.at("host"), verdict_of(json.at("state")), json.at("message"), json.at("next"),
                      std::nullopt,    json.at("ignored_directives")};
    if (json.contains("finding")) report.finding = finding_from_json(json.at("finding"));
    report.through = json.value("through", "");
    if (json.contains("deep") && !json.at("deep").is_null())
        report.deep = fields_from_json<DeepReport>(json.at("deep"));
    if (json.at("facts").is_null()) return report;
    report.facts = fields_from_json<NodeFacts>(json.at("facts"));
    for (const Json& gpu : json.at("devices")) report.facts->gpus.push_back(fields_from_json<NodeGpu>(gpu));
    return report;
}

}  // namespace ringmaster
