#include "launcher/run/request_values.h"

#include <nlohmann/json.hpp>

#include "engine/config/document.h"
#include "launcher/base/files.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json values_of(const Request& request) {
    Document document;
    Diagnostics said;
    std::error_code none;
    if (!fs::is_regular_file(request.config, none) ||
        !read_document(read_file(request.config), document, said))
        return Json::object();
    for (const auto& [key, value] : request.set) set_path(document, key, value, said);
    return document.values;
}

}  // namespace ringmaster
