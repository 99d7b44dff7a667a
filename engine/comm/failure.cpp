#include "engine/comm/failure.h"

#include <c10/util/Exception.h>

namespace ringmaster {

namespace {

/// Gloo begins with "[/path/pair.cc:544] ", c10 ends with "Exception raised from …" and a stack.
std::string plain(std::string text) {
    if (text.starts_with('[')) {
        const size_t close = text.find("] ");
        if (close != std::string::npos && text.substr(0, close).find(".cc:") != std::string::npos) {
            text.erase(0, close + 2);
        }
    }
    const size_t trace = text.find("Exception raised from");
    if (trace != std::string::npos) text.erase(trace);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

}  // namespace

std::string cause_of(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const c10::Error& error) {
        return plain(error.what_without_backtrace());
    } catch (const std::exception& error) {
        return plain(error.what());
    } catch (...) {
        return "unknown failure";
    }
}

}  // namespace ringmaster
