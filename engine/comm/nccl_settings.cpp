#include "engine/comm/nccl_settings.h"

#include <algorithm>
#include <cstdlib>

#include "engine/comm/backends.h"
#include "engine/comm/meeting.h"

namespace ringmaster {

namespace {

constexpr const char* kRecorderSize = "TORCH_FR_BUFFER_SIZE";

std::vector<std::string> names_in(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

bool is_given(const std::string& name) {
    if (name == kRecorderSize) return flight_recorder_is_given();
    return std::getenv(name.c_str()) != nullptr;
}

}  // namespace

NodeNetwork network_of(const Rendezvous& who) {
    NodeNetwork network;
    network.one_node = who.local_world_size >= who.world_size;
    network.interface =
        who.interface_name.empty() ? interface_with(interface_address(who)) : who.interface_name;
    network.infiniband = names_in("/sys/class/infiniband");
    return network;
}

std::vector<NcclSetting> flight_recorder_settings(const std::filesystem::path& folder) {
    const std::string prefix = (folder / "flight-recorder-rank-").string();
    return {{kRecorderSize, "2000", "transfers kept for a stall"},
            {"TORCH_NCCL_DUMP_ON_TIMEOUT", "1", "written at a stall"},
            {"TORCH_FR_DUMP_TEMP_FILE", prefix, "of this run"}};
}

std::string use_nccl_settings(const std::vector<NcclSetting>& settings) {
    std::string text;
    const auto say = [&](const std::string& name, const std::string& value, const std::string& why) {
        text += (text.empty() ? "" : ", ") + to_text({name, value, why});
    };
    for (const NcclSetting& setting : settings) {
        if (is_given(setting.name)) {
            say(setting.name, std::getenv(setting.name.c_str()), "as given");
        } else if (setting.value.empty()) {
            text += (text.empty() ? "" : ", ") + to_text(setting);
        } else {
            setenv(setting.name.c_str(), setting.value.c_str(), 1);
            say(setting.name, setting.value, setting.why);
        }
    }
    if (const char* given = std::getenv("NCCL_PROTO")) say("NCCL_PROTO", given, "as given");
    return text;
}

}  // namespace ringmaster
