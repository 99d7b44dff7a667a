/// Keeps the notes that a user writes about a run: a text and tags, in the run directory's notes.json. Notes
/// do not affect the run.
#pragma once

#include <string>
#include <vector>

#include "launcher/run/run_directory.h"

namespace ringmaster {

struct RunNotes {
    std::string text;
    std::vector<std::string> tags;  ///< tags in the order entered, without repeats
    friend bool operator==(const RunNotes&, const RunNotes&) = default;
};

/// Reads the notes; empty if there are none yet. Throws Error(Refused) if the file is damaged.
RunNotes read_run_notes(const RunDirectory& run);

/// Writes a temporary file, then renames it; empty notes remove the file. Throws Error(Refused).
void write_run_notes(const RunDirectory& run, const RunNotes& notes);

/// Splits "long context, baseline" into two tags, without surrounding blanks. A tag that occurs twice is kept
/// once.
std::vector<std::string> parse_tags(const std::string& text);
std::string join_tags(const std::vector<std::string>& tags);

}  // namespace ringmaster
