#include "engine/events/event_log.h"

namespace ringmaster {

namespace {

std::string numbered(int rank, const char* ending) {
    std::string digits = std::to_string(rank);
    return "rank-" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits + ending;
}

}  // namespace

std::string event_file_name(int rank) { return numbered(rank, ".jsonl"); }
std::string log_file_name(int rank) { return numbered(rank, ".log"); }

}  // namespace ringmaster
