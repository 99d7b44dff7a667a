/// Where a rank is in its work: step, layer and hop, and whom it waits for. A rank notes it with plain stores
/// into memory that it shares with its agent, so that a stall has a place although the rank itself cannot
/// speak any more.
///
/// The agent makes one table for the ranks of its node (memory without a file: no disk can fill up under it)
/// and hands its descriptor down in RINGMASTER_PROGRESS_FD. A rank without an agent notes the same in memory
/// of its own.
#pragma once

#include <cstdint>
#include <string>

namespace ringmaster {

enum class Activity : int32_t { Starting, Preflight, Training, Evaluating, Saving };
enum class Pass : int32_t { Outside, Forward, Backward };  ///< Outside: not among the layers

struct Place {
    Activity activity = Activity::Starting;
    int64_t step = 0;     ///< under way, or completed last; the first is 1
    int micro_batch = 0;  ///< of the step; the first is 1
    Pass pass = Pass::Outside;
    int layer = -1;  ///< from 0; outside the layers the last one; -1: none yet
    int hop = -1;    ///< stage of the layer's attention, 0: own keys; -1: keys do not travel
};

/// "in layer 12, hop 5 (backward of step 7, micro-batch 1)"
std::string to_text(const Place& place);

/// A transfer that is waited for.
struct Awaited {
    Place place;           ///< where it was posted
    std::string whom;      ///< "rank 2 to send keys and values"
    std::string group;     ///< "ring"
    int64_t sequence = 0;  ///< its number among the transfers of the group, the same on all ranks of it
};

/// "waits in layer 12, hop 5, for rank 2 to send keys and values (backward of step 7; transfer 411 of ring)"
std::string to_text(const Awaited& awaited);

struct Whereabouts {
    Place place;
    bool waits = false;
    Awaited awaited;  ///< where it waits
};

/// "waits in …", or "computes in layer 12, hop 4 (…)"
std::string to_text(const Whereabouts& whereabouts);

struct ProgressRecord;

/// A rank's own record; one thread writes.
class Progress {
  public:
    Progress();  ///< in memory of its own
    /// Slot `slot` of the agent's table, which stays open. Throws Error(Usage) where it is no such table.
    Progress(int table, int slot);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();

    /// Where keys travel among ranks, each layer begins at hop 0; else it has none.
    void set_hops(bool keys_travel);
    void begin(Activity activity, int64_t step);
    void begin_micro_batch(int number);
    void enter_layer(Pass pass, int layer);
    void enter_hop(int hop);
    void leave_layers();
    Place place() const;

    void wait_for(const Awaited& awaited);
    void wait_is_over();

  private:
    void* memory_ = nullptr;
    size_t bytes_ = 0;
    ProgressRecord* record_ = nullptr;
};

/// The agent's side.
class ProgressTable {
  public:
    /// Throws Error(Unreachable) where there is no memory for it.
    explicit ProgressTable(int ranks);
    ProgressTable(const ProgressTable&) = delete;
    ProgressTable& operator=(const ProgressTable&) = delete;
    ~ProgressTable();

    int descriptor() const { return descriptor_; }
    /// Exact for a rank that is stopped or waits; of one that runs, as it passes by.
    Whereabouts of(int slot) const;

  private:
    int descriptor_ = -1;
    size_t bytes_ = 0;
    void* memory_ = nullptr;
};

}  // namespace ringmaster
