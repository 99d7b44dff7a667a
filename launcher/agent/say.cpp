#include "launcher/agent/say.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>

namespace ringmaster {

namespace {

int target = STDERR_FILENO;

}  // namespace

void say_into(int log) {
    target = log;
}

void say(const std::string& text) {
    char time[32];
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &parts));
    ::dprintf(target, "%s %s\n", time, text.c_str());
}

}  // namespace ringmaster
