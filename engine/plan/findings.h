/// Collects a plan's diagnostics, each with the line of its key in the file, and formats their figures.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace ringmaster {

class Findings {
  public:
    explicit Findings(Plan& plan) : plan_(plan) {}

    /// These functions take the text from a record of resources/findings.
    void error(const Form& form, const std::string& key, FindingValues parameters,
               std::vector<Fix> fixes = {});
    void warn(const Form& form, const std::string& key, FindingValues parameters,
              std::vector<Fix> fixes = {});
    void inform(const Form& form, const std::string& key, FindingValues parameters,
                std::vector<Fix> fixes = {});

    /// Returns the first of these keys that the file sets, or the first key if it sets none.
    std::string key_of(std::initializer_list<const char*> keys) const;
    bool is_set(const char* key) const;

  private:
    void add(Severity severity, const Form& form, const std::string& key, FindingValues parameters,
             std::vector<Fix> fixes);
    int line_of(const std::string& key) const;

    Plan& plan_;
};

/// Sorts by importance: an unreadable text, the training method, the model, errors that no edit can fix,
/// errors that one edit fixes, too little memory, other warnings, notes. Findings of the same importance are
/// sorted by line.
void put_worst_first(Diagnostics& diagnostics);

std::string grouped(int64_t number);                     ///< e.g. "8,192"
std::string size_text(double bytes);                     ///< e.g. "12.3 GiB", "24 MiB"
std::string counted(int64_t number, const char* thing);  ///< e.g. "1 rank", "8 ranks"
std::vector<int> divisors(int64_t number);               ///< sorted, including 1 and the number
std::vector<int64_t> as_list(const std::vector<int>& sizes);

/// Returns fixes that set `key` to one of `sizes`, largest first, at most four. Leaves out `asked`, the size
/// that the file has now.
std::vector<Fix> fixes_of_sizes(const std::string& key, const std::vector<int>& sizes, int64_t asked);

/// Returns the product, or nullopt if it exceeds 2^62.
std::optional<int64_t> product(std::initializer_list<int64_t> factors);

}  // namespace ringmaster
