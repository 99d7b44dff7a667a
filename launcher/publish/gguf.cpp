#include "launcher/publish/gguf.h"

#include <QStandardPaths>
#include <cstdlib>

#include "engine/error.h"
#include "launcher/base/child.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr char kName[] = "convert_hf_to_gguf.py";

}  // namespace

fs::path gguf_converter(const fs::path& named) {
    std::error_code none;
    const char* folder = std::getenv("LLAMA_CPP");
    for (const fs::path& place : {named, folder != nullptr ? fs::path(folder) : fs::path()}) {
        if (place.empty()) continue;
        const fs::path file = fs::is_directory(place, none) ? place / kName : place;
        if (fs::is_regular_file(file, none)) return file;
        throw Error(Failure::Unreachable, Code("GGUF-CONVERTER"), "is not there", file.string(),
                    "name llama.cpp's folder");
    }
    const QString found = QStandardPaths::findExecutable(QLatin1String(kName));
    if (!found.isEmpty()) return found.toStdString();
    throw Error(
        Failure::Unreachable, Code("GGUF-CONVERTER"), "llama.cpp's converter was not found", kName,
        "clone https://github.com/ggml-org/llama.cpp and name its folder by --converter or LLAMA_CPP");
}

void export_gguf(const fs::path& folder, const fs::path& to, const fs::path& converter, const Places& places,
                 const Progress& progress) {
    std::error_code none;
    if (!fs::exists(folder / "config.json", none))
        throw Error(
            Failure::Usage, Code("GGUF-CONVERTER"), "holds no whole model", folder.string(),
            "`ringmaster merge` adds an adapter to its base model; convert the folder that it writes");
    const ChildProgram child{
        places.python().string(),
        {converter.string(), folder.string(), "--outfile", to.string(), "--outtype", "auto"},
        kName,
        "its own documentation says which models it knows"};
    progress.report({"gguf"});
    try {
        run_child(child, {}, progress);
    } catch (const Error& problem) {
        if (problem.code != "PROGRAM-FAILED") throw;
        throw Error(Failure::Refused, Code("GGUF-CONVERTER"), problem.what(), folder.string(), problem.hint);
    }
}

}  // namespace ringmaster
