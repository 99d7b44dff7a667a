/// Traces the memory of one layer's attention over the mesh, from its queries, keys and values to its output.
/// Follows engine/attention line by line. The letters are those of memory.h.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "engine/layout/attention_schedule.h"
#include "engine/layout/flash_blocks.h"
#include "engine/layout/part_joins.h"
#include "engine/plan/attention_kernels.h"
#include "engine/plan/memory/heap.h"
#include "engine/plan/memory/memory.h"
#include "engine/plan/memory/sent_latents.h"

namespace ringmaster {

/// The tensors that a rank attends with: all tokens of a Ulysses group, and the heads that it owns.
struct AttentionShape {
    double rows, tokens, heads, kv_heads, head_dim;

    double queries() const { return rows * tokens * heads * head_dim; }  ///< elements of the queries
    double keys() const { return rows * tokens * kv_heads * head_dim; }  ///< elements of the keys alone
    double of_keys(double count) const { return 2 * rows * count * kv_heads * head_dim; }  ///< keys, values
};

class AttentionTrace {
  public:
    AttentionTrace(const MemoryInputs& in, int64_t window, Heap& heap);

    /// After this call, the trace does not count the sums of keys' gradients, because the caller counts the
    /// sums of all chunks.
    void have_sums() { has_sums_ = true; }
    /// Traces the forward pass, without the output that is kept.
    void forward() { in_.ulysses > 1 ? forward_over_heads() : scheduled_forward(); }
    /// Traces from the output's gradient to the gradients of queries, keys and values. Calls `sent` when the
    /// output's gradient has been sent to the heads' owners, and `read` when the tensors that the forward
    /// pass kept have been read.
    void backward(const std::function<void()>& sent, const std::function<void()>& read) {
        if (in_.ulysses > 1) return backward_over_heads(sent, read);
        Heap::Block dq, home;
        scheduled_backward(dq, home);
    }

  private:
    double element() const { return in_.element_bytes(); }
    bool is_half() const { return element() == 2; }
    bool is_flash() const { return family_ == AttentionFamily::FlashAttention2; }
    /// Returns whether kernels add to float32 sums, rather than return parts of the result to be joined.
    bool has_sums_of_kernels() const { return keeps_sums(family_); }
    bool on_gpu() const { return in_.device == Device::Cuda; }
    double kv_width() const { return double(model_.num_kv_heads * model_.head_dim); }
    /// Returns whether one call of a GPU's flash attention computes everything.
    bool is_plain() const {
        return !has_sums_of_kernels() && in_.ring == 1 && in_.chunks == 1 && (is_flash() || !in_.packed);
    }
    /// Returns whether a GPU's flash attention backward runs in several blocks of queries.
    bool is_in_blocks() const { return is_flash() && shape_.tokens > double(blocks().queries_at_once); }
    /// Returns how many copies of dq a launch holds, and how many queries it takes at once. Without
    /// deterministic sums, there is one copy, and a launch takes all queries.
    FlashBlocks blocks() const;
    /// Returns the fraction of key/value heads that travel together.
    double heads_at_once() const {
        if (in_.gathered_heads == 0) return 1;
        return std::min(1.0, double(in_.gathered_heads) / std::max(1.0, shape_.kv_heads));
    }
    /// Returns the elements of `count` keys and values, for the heads that are sent at once.
    double some_keys(double count) const { return heads_at_once() * shape_.of_keys(count); }
    /// Returns the elements that ranks send for `count` keys: keys and values, or latents in their place.
    double sent_elements(double count) const {
        return latents_ > 0 ? shape_.rows * count * latents_ : some_keys(count);
    }
    /// Traces the computation of a stage's keys and values from latents, and holds them.
    Heap::Block keys_of_latents(const Stage& stage);
    /// Traces the computation of the gradients of a stage's latents, and returns these gradients.
    Heap::Block latents_backward(const Stage& stage);
    double statistics() const { return 4 * shape_.rows * shape_.tokens * shape_.heads; }
    /// Returns the fraction of query heads per launch of a GPU's flash attention backward.
    double launched_at_once() const;
    /// Returns whether launches share key/value heads, whose gradients then add up in float32.
    bool adds_keys() const;
    /// Returns whether gradients are written over queries, keys and values, because each launch computes only
    /// some heads. Padding after packed rows prevents it.
    bool overwrites() const {
        return is_plain() && is_flash() && !is_in_blocks() && !in_.packed && launched_at_once() < 1;
    }
    double flash_backward_bytes() const;
    /// Return the bytes of one part of a GPU's results, and the number of parts that a rank computes.
    double of_part() const { return heads_at_once() * shape_.queries() * element(); }
    double parts() const;
    /// Returns the bytes of the parts that wait to be joined, and of their float32 sum.
    double held_and_sum() const;
    /// Returns the bytes of the gradients of this rank's keys that wait to be joined.
    double held_keys() const;
    /// Returns the bytes per element of gradients that return to their rank.
    double gradient_bytes(bool one_call) const;
    bool is_of_panels() const;
    double of_panel_task(double keys, double rows, double head_dim, bool backward) const;
    double of_tasks(const Stage& stage, bool backward) const;
    /// Returns the bytes that a call of a GPU's score-block kernels takes.
    double of_score_blocks(const Stage& stage, bool backward) const;
    /// Returns the bytes that a call of the kernels takes besides inputs and results.
    double of_kernel(const Stage& stage, bool backward) const;
    double delta_bytes() const;
    Heap::Block tokens_to_heads(double bytes);
    void forward_over_heads();
    void scheduled_forward();
    /// Returns the schedule's stages, repeated for each group of heads but at most `most_rounds` times, then
    /// a null.
    std::vector<const Stage*> stages(const AttentionSchedule& schedule, int most_rounds) const;
    struct KeysUnderWay {
        Heap::Block held, coming, sent;
    };
    /// Begins the exchange of the next stage's keys; the keys that came before are in use.
    void exchange(const Stage* next, KeysUnderWay& keys);
    /// Holds the tensors fetched from host memory for a pass over another chunk's keys, and for the next
    /// pass.
    struct PassUnderWay {
        Heap::Block held, coming;
    };
    /// Returns whether keys, values and their sums of other chunks are in host memory.
    bool fetches() const { return in_.chunks > 1 && in_.gradient_checkpointing && in_.offloads_activations; }
    void fetch(size_t pass, bool with_sums, PassUnderWay& under_way);
    void forward_pass(const AttentionSchedule& schedule);
    void backward_pass(const AttentionSchedule& schedule);
    void stage_backward(const Stage& stage, Heap::Block& going_home, Heap::Block& arriving);
    void scheduled_backward(Heap::Block& dq, Heap::Block& home);
    void backward_over_heads(const std::function<void()>& sent, const std::function<void()>& read);

    const MemoryInputs& in_;
    const ModelConfig& model_;
    Heap& heap_;
    AttentionShape shape_;
    AttentionFamily family_;
    /// One pass for each chunk whose keys are read; this chunk's pass comes first.
    std::vector<AttentionSchedule> passes_;
    std::vector<Heap::Block> sums_of_others_;  ///< gradients of other chunks' keys, on the device
    bool has_sums_ = false;
    double gathered_ = 1;  ///< ranks represented by one stage of the schedule
    double latents_ =
        0;  ///< elements of a latent sent in place of a token's keys and values; 0: none are sent
};

/// Returns the number of ring ranks with which this rank exchanges keys or their gradients, given the widest
/// window of all layers.
int ring_peers(const MemoryInputs& in);

}  // namespace ringmaster
