#include "launcher/nodes/samples_there.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "launcher/base/files.h"
#include "launcher/run/local_node.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr const char* kRequest = "samples.json";

}  // namespace

std::string samples_there(const RunDirectory& run, const RemoteNode& there, std::vector<StagedFile>& files) {
    std::error_code none;
    if (!fs::exists(run.dir / kRequest, none)) return {};
    nlohmann::json request = read_json_file(run.dir / kRequest);
    const fs::path texts = request.at("texts").get<std::string>();
    const std::string to = there.run_dir + "/" + texts.filename().string();
    files.push_back({texts, to, false});
    request["texts"] = to;
    return request.dump() + "\n";
}

void place_samples(Node& node, const RemoteNode& there, const RunDirectory& run, const std::string& text) {
    const std::string file = there.run_dir + "/" + kRequest;
    if (!text.empty())
        write_remote_file(*node.session, file, text);
    else if (is_remote(run))
        script_output(*node.session, "rm -f " + shell_quoted(file), file + " cannot be removed");
}

}  // namespace ringmaster
