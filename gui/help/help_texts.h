/// The help's entries: Markdown files cut at their `## ` headings, and the records of resources/findings.
#pragma once

#include <QString>
#include <vector>

namespace ringmaster {

struct HelpEntry {
    QString id;     ///< "CP-DIVISOR", "overhead"; of the guide: its heading
    QString title;  ///< one line
    QString text;   ///< Markdown
};

enum class HelpBook { Guide, Figures, Codes };

/// In the language of the default QLocale (zh_CN, de), else English.
std::vector<HelpEntry> read_help(HelpBook book);

}  // namespace ringmaster
