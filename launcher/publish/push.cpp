#include "launcher/publish/push.h"

#include <QTemporaryDir>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/base/files.h"
#include "launcher/history/run_details.h"
#include "launcher/publish/model_card.h"
#include "launcher/run/tokenize.h"

namespace ringmaster {

namespace fs = std::filesystem;

fs::path model_with_card(const RunDirectory& run, const std::string& title) {
    const fs::path model = written_model(run, "HUB-PUSH");
    std::error_code none;
    if (!fs::exists(model / "README.md", none)) write_card(model_card(run, title), model, false);
    return model;
}

std::string push_folder(const Push& push, const Places& places, const Progress& progress) {
    std::error_code none;
    if (!fs::exists(push.folder / "config.json", none) &&
        !fs::exists(push.folder / "adapter_config.json", none))
        throw Error(Failure::Usage, Code("HUB-PUSH"), "holds neither config.json nor adapter_config.json",
                    push.folder.string(), "name a model's folder, or a run that has written its model");
    const QTemporaryDir temporary;
    if (!temporary.isValid())
        throw Error(Failure::Refused, Code("FILE-WRITE"), temporary.errorString().toStdString(),
                    "the folder for temporary files");
    const fs::path request = fs::path(temporary.path().toStdString()) / "push.json";
    const nlohmann::json asked = {
        {"folder", push.folder.string()},
        {"repository", push.repository},
        {"private", push.is_private},
        {"message", "Upload " + push.folder.filename().string() + " with Ringmaster"}};
    write_file(request, asked.dump() + "\n");
    return run_python_step({"--push", request.string()}, "HUB-PUSH", places, progress).at("url");
}

}  // namespace ringmaster
