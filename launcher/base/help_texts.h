/// Reads the help's entries: Markdown files cut at `## ` headings, and the records of resources/findings.
#pragma once

#include <QString>
#include <string>
#include <vector>

namespace ringmaster {

struct HelpEntry {
    QString id;     ///< "slurm", "overhead", "CP-DIVISOR"
    QString title;  ///< one line
    QString text;   ///< Markdown
};

enum class HelpBook { Guide, Figures, Codes };

/// Returns a book's entries in `language` ("en", "de", "zh_CN"), or in English if the book lacks it.
std::vector<HelpEntry> read_help(HelpBook book, const std::string& language);

}  // namespace ringmaster
