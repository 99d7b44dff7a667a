/// Collects a plan's diagnostics, each with the line of its key in the file, and writes their figures.
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

    void error(const char* code, const std::string& key, std::string message, std::string hint = {});
    void warn(const char* code, const std::string& key, std::string message, std::string hint = {});
    void inform(const char* code, const std::string& key, std::string message, std::string hint = {});

    /// By a record of resources/findings.
    void error(const Form& form, const std::string& key, FindingValues parameters, std::vector<Fix> fixes = {});
    void warn(const Form& form, const std::string& key, FindingValues parameters, std::vector<Fix> fixes = {});
    void inform(const Form& form, const std::string& key, FindingValues parameters, std::vector<Fix> fixes = {});

    /// The first of these keys that the file sets, else the first.
    std::string key_of(std::initializer_list<const char*> keys) const;
    bool is_set(const char* key) const;

  private:
    void add(Severity severity, const char* code, const std::string& key, std::string message,
             std::string hint);
    void add(Severity severity, const Form& form, const std::string& key, FindingValues parameters,
             std::vector<Fix> fixes);
    int line_of(const std::string& key) const;

    Plan& plan_;
};

/// Errors that no edit can mend, then those that one edit mends, then warnings, then notes; among equals as
/// they were.
void put_worst_first(Diagnostics& diagnostics);

std::string grouped(int64_t number);                     ///< "8,192"
std::string gib(double bytes);                           ///< "12.3 GiB"
std::string joined(const std::vector<int>& numbers);     ///< "2, 4, 8"
std::string counted(int64_t number, const char* thing);  ///< "1 rank", "8 ranks"
std::vector<int> divisors(int64_t number);               ///< sorted, with 1 and itself
std::vector<int64_t> as_list(const std::vector<int>& sizes);

/// `key` at each of the sizes that work, the largest first: nearest to what was asked for. The one that is
/// asked for is none of them.
std::vector<Fix> fixes_of_sizes(const std::string& key, const std::vector<int>& sizes, int64_t asked);

/// The product, or nullopt beyond 2^62.
std::optional<int64_t> product(std::initializer_list<int64_t> factors);

}  // namespace ringmaster
