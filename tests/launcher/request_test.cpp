#include "launcher/run/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace ringmaster {

namespace {

TEST(Request, SurvivesItsJson) {
    Request request;
    request.config = "/a/b.yaml";
    request.base_dir = "/a";
    request.accelerate_file = "/a/accelerate.yaml";
    request.set = {{"max_steps", "3"}, {"datasets.0.path", "x y"}};
    request.environment = {{"PARALLELISM_CONFIG_CP_SIZE", "2"}};
    request.ranks = 4;
    request.device = Device::Cuda;
    const Request again =
        request_from_json(nlohmann::json::parse(request_to_json(request).dump()), "options.json");
    EXPECT_EQ(request_to_json(again), request_to_json(request));
    EXPECT_EQ(again.ranks, 4);
    EXPECT_EQ(again.device, Device::Cuda);
    EXPECT_FALSE(again.nodes);
    EXPECT_THAT(
        [] {
            request_from_json({{"config", 3}}, "options.json");
        },
        testing::ThrowsMessage<Error>("is damaged: a value has the wrong type"));
}

TEST(Request, ASettingIsAKeyAndAValue) {
    EXPECT_EQ(parse_set("a.b=c=d"), (std::pair<std::string, std::string>("a.b", "c=d")));
    EXPECT_EQ(parse_set("a=").second, "");
    EXPECT_THROW(parse_set("a"), Error);
    EXPECT_THROW(parse_set("=a"), Error);
}

TEST(Request, ALaterSettingReplacesAnEarlierOne) {
    Request request;
    request.set = {{"a", "1"}, {"b", "2"}};
    add_settings(request, {{"a", "3"}});
    EXPECT_EQ(request.set, (std::vector<std::pair<std::string, std::string>>{{"b", "2"}, {"a", "3"}}));
}

}  // namespace

}  // namespace ringmaster
