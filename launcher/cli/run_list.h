/// Prints runs as a table: name, state, step and loss, between columns that the command chooses.
#pragma once

#include <string>
#include <vector>

#include "launcher/cli/terminal.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

class RunList {
  public:
    /// Takes the headings of the columns before and after those that every list of runs has.
    RunList(std::vector<std::string> before, const std::vector<std::string>& after);

    /// Adds a row; `before` and `after` are its cells in the command's columns.
    void add(const RunSummary& run, std::vector<std::string> before, const std::vector<std::string>& after);
    size_t size() const { return rows_.size() - 1; }

    /// Returns the table. A row is followed by the reason why the run failed, waits or was cut short, if any.
    std::string text(const Terminal& terminal) const;

  private:
    size_t name_;                                 ///< column of the name
    std::vector<std::vector<std::string>> rows_;  ///< rows, beginning with the headings
    std::vector<RunSummary> runs_;
};

}  // namespace ringmaster
