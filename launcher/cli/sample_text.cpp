#include "launcher/cli/sample_text.h"

#include <sstream>

#include "launcher/base/format.h"
#include "launcher/history/sample_file.h"

namespace ringmaster {

namespace {

constexpr size_t kMostSamples = 3;
constexpr int kMostLines = 6;  ///< lines of a sample

/// Returns a sample's first lines, indented, without the blank ones.
std::string sample_lines(const Sample& sample, const Terminal& terminal) {
    std::istringstream text(sample.prompt + (sample.is_chat ? "\n" : "") + sample.text);
    std::string lines;
    int count = 0;
    for (std::string line; count < kMostLines && std::getline(text, line);) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        lines += "  " + fit(printable(line), terminal.width - 2) + "\n";
        ++count;
    }
    return text.eof() ? lines : lines + "  …\n";
}

}  // namespace

std::string newest_samples(const RunDirectory& run, const Terminal& terminal) {
    SampleFile file(run.dir / kSamplesFile);
    while (file.poll()) {
    }
    if (file.steps().empty()) return "";
    const auto& [step, samples] = *file.steps().rbegin();
    std::string text = "after step " + format_count(step) + " it writes:\n";
    size_t shown = 0;
    for (const auto& [prompt, sample] : samples) {
        if (shown++ == kMostSamples) break;
        text +=
            terminal.ink.dim("prompt " + std::to_string(prompt + 1)) + "\n" + sample_lines(sample, terminal);
    }
    return text + "all samples are in " + printable((run.dir / kSamplesFile).string()) + "\n";
}

}  // namespace ringmaster
