/// What a person writes about a run: a text and tags, in the run directory's notes.json. Nothing else reads
/// it.
#pragma once

#include <string>
#include <vector>

#include "launcher/run_directory.h"

namespace ringmaster {

struct RunNotes {
    std::string text;
    std::vector<std::string> tags;  ///< in the order given, each once
    friend bool operator==(const RunNotes&, const RunNotes&) = default;
};

/// Empty where nothing has been written yet. Throws Error(Refused) where the file is damaged.
RunNotes read_run_notes(const RunDirectory& run);

/// Written aside, then renamed; nothing to say removes the file. Throws Error(Refused).
void write_run_notes(const RunDirectory& run, const RunNotes& notes);

/// "long context, baseline" -> the two tags, without the blanks around them; one that is there already is
/// left out.
std::vector<std::string> parse_tags(const std::string& text);
std::string join_tags(const std::vector<std::string>& tags);

}  // namespace ringmaster
