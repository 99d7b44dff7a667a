#include "engine/families/config_fields.h"

namespace ringmaster {

namespace {

bool says_nothing(const nlohmann::json& value) {
    const bool zero = value.is_number() && value.get<double>() == 0;
    return value.is_null() || zero || value == false || value == "" ||
           (value.is_structured() && value.empty());
}

}  // namespace

std::vector<std::string> ConfigFields::unread() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : values_->items()) {
        if (!name.empty() && name.front() != '_' && !read_->contains(name) && !says_nothing(value))
            names.push_back(name);
    }
    return names;
}

}  // namespace ringmaster
