#include "engine/families/config_fields.h"

#include <cctype>

namespace ringmaster {

namespace {

bool says_nothing(const nlohmann::json& value) {
    const bool zero = value.is_number() && value.get<double>() == 0;
    return value.is_null() || zero || value == false || value == "" ||
           (value.is_structured() && value.empty());
}

bool is_of_name(const std::string& text, size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
}

}  // namespace

std::string ConfigFields::in_files(std::string text) const {
    for (const auto& [here, there] : renamed_) {
        for (size_t at = text.find(here); at != std::string::npos; at = text.find(here, at)) {
            const bool is_whole =
                !(at > 0 && is_of_name(text, at - 1)) && !is_of_name(text, at + here.size());
            if (is_whole) text.replace(at, here.size(), there);
            at += is_whole ? there.size() : here.size();
        }
    }
    return text;
}

std::vector<std::string> ConfigFields::unread() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : values_->items()) {
        if (!name.empty() && name.front() != '_' && !read_->contains(name) && !says_nothing(value))
            names.push_back(name);
    }
    return names;
}

}  // namespace ringmaster
