// Fuzzes the lines that a stranger may send to an agent: without the run's secret, no agent accepts a
// connection.
#include "launcher/agent/channel.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    Channel first = Channel::of_first("a secret of the run", 3),
            other = Channel::of_other("a secret of the run", 2);
    for (Channel* end : {&first, &other}) {
        std::string_view text = fuzz::text_of(data, size);
        while (!text.empty()) {
            const size_t at = text.find('\n');
            const auto answer = end->greet(text.substr(0, at));
            fuzz::require(!end->is_proven());
            if (!answer) break;
            fuzz::require(answer->size() <= Channel::kLongestGreeting);
            text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
        }
        fuzz::require(!end->opened_line(fuzz::text_of(data, size)));
    }
    return 0;
}
