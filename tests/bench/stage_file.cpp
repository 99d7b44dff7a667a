// Implements `stage_file HOST FROM TO`: sends one file to a machine as a launch sends its model, and prints
// {"connect_s", "stage_s", "sent_bytes"}. Ringmaster's files on that machine are kept next to TO.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "launcher/nodes/stage.h"

using namespace ringmaster;

namespace {

double seconds_since(std::chrono::steady_clock::time_point then) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

void stage(const std::string& host, const std::string& from, const std::string& to) {
    const auto began = std::chrono::steady_clock::now();
    Node node;
    node.target = parse_target(host);
    node.settings = ssh_settings(node.target);
    node.facts.data_dir = std::filesystem::path(to).parent_path() / "ringmaster";
    node.session = std::make_unique<SshSession>(node.settings, SshPerson{});
    const double connect_s = seconds_since(began);
    const Staged staged = stage_files(node, {{from, to, false}}, {});
    const nlohmann::json said{{"connect_s", connect_s},
                              {"stage_s", seconds_since(began) - connect_s},
                              {"sent_bytes", staged.sent_bytes}};
    std::puts(said.dump().c_str());
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        std::fputs("usage: stage_file HOST FROM TO\n", stderr);
        return 2;
    }
    try {
        stage(words[1], words[2], words[3]);
        return 0;
    } catch (const Error& problem) {
        std::fprintf(stderr, "%s\n", problem.text().c_str());
        return static_cast<int>(problem.failure);
    }
}
