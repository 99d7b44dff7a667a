/// Records where a rank is in its work: step, layer and hop, and which rank it waits for. A rank records this
/// with plain stores into memory that it shares with its agent, so that the agent can say where a rank
/// stalled even if the rank no longer answers.
///
/// The agent makes one table for the ranks of its node, in memory without a file, so that a full disk cannot
/// harm it, and passes its descriptor in RINGMASTER_PROGRESS_FD. A rank without an agent keeps the record in
/// its own memory.
#pragma once

#include <cstdint>
#include <string>

#include "engine/events/run_reason.h"

namespace ringmaster {

enum class Activity : int32_t { Starting, Preflight, Training, Evaluating, Saving };
enum class Pass : int32_t { Outside, Forward, Backward };  ///< Outside: in no layer

struct Place {
    Activity activity = Activity::Starting;
    int64_t step = 0;     ///< step under way, or last completed; the first is 1
    int micro_batch = 0;  ///< micro-batch of the step; the first is 1
    Pass pass = Pass::Outside;
    int layer = -1;  ///< index from 0, which stays set between layers; -1: none yet
    int hop = -1;    ///< index of the unit of the layer's attention (a stage, or some of its heads); -1: none
};

/// Names the other side of a transfer.
struct Partner {
    enum class Role : int32_t { Sender, Receiver, All };
    Role role = Role::All;
    int rank_or_count = 0;  ///< number of the other rank; for All, how many ranks take part
    std::string what;  ///< data that the ranks send, such as "keys and values"; for All, such as "all-reduce"
};

/// Describes a transfer that a rank waits for.
struct Awaited {
    Place place;  ///< position in the step where the transfer was posted
    Partner partner;
    std::string group;     ///< name of the group, such as "ring"
    int64_t sequence = 0;  ///< number of the transfer in its group, the same on all its ranks
};

/// Returns the parts of " waits in layer 12, hop 5, for rank 2 to send keys and values (backward of step 7,
/// …)".
Reason as_reason(const Awaited& awaited);

struct Whereabouts {
    Place place;
    bool waits = false;
    Awaited awaited;  ///< transfer that the rank waits for, if `waits`
};

/// Returns the parts of " waits in …" or " is at work in layer 12, hop 4 (…)", which follow a rank's number.
Reason as_reason(const Whereabouts& whereabouts);

struct ProgressRecord;

/// Records the progress of this rank; only one thread writes.
class RankProgress {
  public:
    RankProgress();  ///< keeps the record in this process's memory
    /// Writes to slot `slot` of the agent's table, which stays open. Throws Error(Usage) for any other file.
    RankProgress(int table, int slot);
    RankProgress(const RankProgress&) = delete;
    RankProgress& operator=(const RankProgress&) = delete;
    ~RankProgress();

    /// Sets whether keys travel among ranks. If so, each layer starts at hop 0, otherwise without a hop.
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

/// Gives the agent access to the records of its ranks.
class ProgressTable {
  public:
    /// Allocates the table. Throws Error(Unreachable) if there is no memory for it.
    explicit ProgressTable(int ranks);
    ProgressTable(const ProgressTable&) = delete;
    ProgressTable& operator=(const ProgressTable&) = delete;
    ~ProgressTable();

    int descriptor() const { return descriptor_; }
    /// Returns the position of a rank. It is exact if the rank is stopped or waits, and approximate if the
    /// rank runs.
    Whereabouts of(int slot) const;

  private:
    int descriptor_ = -1;
    size_t bytes_ = 0;
    void* memory_ = nullptr;
};

}  // namespace ringmaster
