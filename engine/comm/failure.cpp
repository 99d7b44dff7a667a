#include "engine/comm/failure.h"

#include <c10/util/Exception.h>

#include <cstdio>

#include "engine/events/library_words.h"

namespace ringmaster {

namespace {

/// Strips Gloo's "[/path/pair.cc:544] " at the start and c10's "Exception raised from …" with its stack.
std::string plain(std::string text) {
    for (size_t open = text.find("[/"); open != std::string::npos; open = text.find("[/", open)) {
        const size_t close = text.find("] ", open);
        if (close == std::string::npos || text.substr(open, close - open).find(".cc:") == std::string::npos)
            break;
        text.erase(open, close + 2 - open);
    }
    const size_t trace = text.find("Exception raised from");
    if (trace != std::string::npos) text.erase(trace);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

}  // namespace

TransferFailure failure_of(const std::exception_ptr& exception) {
    TransferFailure failure{"unknown failure"};
    try {
        std::rethrow_exception(exception);
    } catch (const c10::Error& error) {
        failure.words = plain(error.what_without_backtrace());
    } catch (const std::exception& error) {
        failure.words = plain(error.what());
    } catch (...) {
        return failure;
    }
    failure.cause = cause_in(failure.words);
    return failure;
}

std::string seconds_text(std::chrono::milliseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%g s", std::chrono::duration<double>(time).count());
    return text;
}

}  // namespace ringmaster
