#include "engine/plan/memory/attention_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "engine/layout/deterministic.h"
#include "engine/layout/layout.h"
#include "engine/layout/score_blocks.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

namespace {

constexpr auto kCommunication = MemoryPart::Communication;
constexpr auto kWorkspace = MemoryPart::Workspace;
constexpr std::string_view kKeys = "keys and values of other ranks",
                           kOwnedHeads = "heads exchanged by Ulysses",
                           kLatents = "keys and values of latents",
                           kKeyGradients = "gradients of keys and values",
                           kQueryGradients = "gradients of queries", kFlash = "attention kernel's own memory";

constexpr double kScoreRows = pieces::kScoreRows, kScoreKeys = pieces::kScoreKeys;
constexpr double kPanel = pieces::kPanel;

/// The longest ring that is traced. In longer rings, a rank holds the same amount at a time.
constexpr int kTracedRing = 8;

/// Returns the last chunk's passes over the keys of each chunk that it reads, its own first.
std::vector<AttentionSchedule> passes_of_last_chunk(const Layout& layout, const AttentionMask& mask, int ring,
                                                    int rank, int ulysses) {
    std::vector<std::vector<Spans>> spans(layout.chunks());
    for (size_t chunk = 0; chunk < layout.chunks(); ++chunk)
        for (int r = 0; r < ring; ++r) spans[chunk].push_back(chunk_spans(layout, chunk, r, ulysses));
    std::vector<AttentionSchedule> passes = make_chunk_schedules(spans, rank, mask, layout.chunks() - 1);
    std::reverse(passes.begin(), passes.end());
    std::erase_if(passes, is_idle);
    return passes;
}

/// Returns the schedules of a rank's passes over keys: a single pass, or the passes of the last chunk over
/// each chunk that it reads.
std::vector<AttentionSchedule> passes_of(const MemoryInputs& in, int64_t window, int ring, int rank) {
    const int64_t tokens = padded_length(in.layout, in.shard_tokens * in.chunks * ring * in.ulysses, ring,
                                         in.ulysses, in.chunks > 1);
    const auto mask_of = [&](int64_t wide) {
        AttentionMask mask;
        if (wide < tokens) mask.window = wide;
        return mask;
    };
    const Layout layout = make_layout(in.layout, tokens, ring, in.ulysses, mask_of(in.window), in.chunks);
    const AttentionMask mask = mask_of(window);
    if (layout.chunks() > 1) return passes_of_last_chunk(layout, mask, ring, rank, in.ulysses);
    std::vector<Spans> spans;
    for (int r = 0; r < ring; ++r) spans.push_back(ring_spans(layout, r, in.ulysses));
    if (in.gathered_heads > 0) return {make_gather_schedule(spans, rank, mask, in.gathered_heads)};
    return {make_ring_schedule(spans, rank, mask)};
}

/// Returns the size of the ring to trace, and this rank's place in that ring.
std::pair<int, int> traced_ring(const MemoryInputs& in) {
    const int ring = std::min(in.ring, kTracedRing);
    return {ring, ring == in.ring ? in.ring_rank : in.ring_rank * ring / in.ring};
}

}  // namespace

int ring_peers(const MemoryInputs& in) {
    const auto [ring, rank] = traced_ring(in);
    if (ring == 1) return 0;
    std::set<int> peers;
    MemoryInputs whole = in;
    whole.chunks = 1;
    const AttentionSchedule schedule = passes_of(whole, in.window, ring, rank).front();
    for (const Stage& stage : schedule.stages) {
        for (const KeyExchange& exchange : stage.exchanges) {
            if (!exchange.sent.empty()) peers.insert(exchange.to);
            if (exchange.received > 0) peers.insert(exchange.from);
        }
    }
    const auto count = static_cast<int>(peers.size());
    return count == ring - 1 ? in.ring - 1 : count;
}

AttentionTrace::AttentionTrace(const MemoryInputs& in, int64_t window, Heap& heap)
    : in_(in), model_(in.model), heap_(heap), latents_(double(sent_latent_width(in))) {
    const double ulysses = in.ulysses, kv_heads = double(in.model.num_kv_heads);
    shape_ = {double(in.micro), double(in.shard_tokens) * ulysses, double(in.model.num_heads) / ulysses,
              std::max(1.0, kv_heads / ulysses), double(in.model.head_dim)};
    family_ = attention_family(in.device, in.precision == Precision::Float32, in.model.head_dim,
                               in.model.score_softcap != 0);
    const auto [ring, rank] = traced_ring(in);
    passes_ = passes_of(in, window, ring, rank);
    if (in.gathered_heads > 0) gathered_ = double(in.ring) / ring;
}

FlashBlocks AttentionTrace::blocks() const {
    if (!cuda_is_deterministic()) return {1, std::numeric_limits<int64_t>::max()};
    return flash_blocks(std::max<int64_t>(1, std::llround(shape_.rows * shape_.heads)),
                        std::llround(shape_.head_dim));
}

/// Returns the buffers of the threads that run at once: a head's keys and values in float32 (in the backward
/// pass also their gradients), blocks of scores and of queries.
double AttentionTrace::of_tasks(const Stage& stage, bool backward) const {
    if (stage.slices.empty()) return 0;
    int64_t begin = stage.slices[0].key_begin, end = 0;
    for (const Slice& slice : stage.slices) {
        begin = std::min(begin, slice.key_begin);
        end = std::max(end, slice.key_end);
    }
    const double pairs = shape_.rows * std::max(1.0, shape_.kv_heads);
    const double parts = std::max(1.0, std::floor(double(in_.threads) / pairs));
    const double at_once = std::min(double(in_.threads), pairs * parts);
    const double group = shape_.heads / shape_.kv_heads, D = shape_.head_dim;
    const double rows = group * std::max(16.0, std::floor(kScoreRows / group));
    const double keys = double(end - begin) * gathered_ * D;
    const double waiting =  // gradients of parts of one head, summed in order at the end
        backward && parts > 1 ? std::max(0.0, pairs * parts - at_once) * keys * 8 : 0;
    if (is_of_panels()) return at_once * of_panel_task(keys, rows, D, backward) + waiting;
    const double widened = keys * 4 * (backward ? 4 : 2);
    const double blocks = !backward ? 1 : model_.score_softcap == 0 ? 2 : 3;
    return at_once * (widened + rows * 4 * (blocks * kScoreKeys + (backward ? 3 : 2) * D)) + waiting;
}

double AttentionTrace::of_score_blocks(const Stage& stage, bool backward) const {
    if (stage.slices.empty()) return 0;
    const auto whole = [](double count) { return std::max<int64_t>(1, std::llround(count)); };
    const int64_t key_heads = whole(shape_.kv_heads * heads_at_once());
    const ScoreBlockShape shape{whole(shape_.rows), whole(double(key_heads) * shape_.heads / shape_.kv_heads),
                                key_heads, whole(shape_.head_dim), whole(element())};
    return score_block_bytes(shape, stage.slices, backward);
}

double AttentionTrace::of_kernel(const Stage& stage, bool backward) const {
    switch (family_) {
        case AttentionFamily::OwnBlocks:
            return of_tasks(stage, backward);
        case AttentionFamily::ScoreBlocks:
            return of_score_blocks(stage, backward);
        case AttentionFamily::FlashAttention2:
        case AttentionFamily::Efficient:
            break;
    }
    return backward ? flash_backward_bytes() : of_part();
}

/// Returns the temporary bytes of the dot products of outputs and their gradients. A CPU computes as many
/// heads at once as it has threads, and its operations on two dtypes widen both.
double AttentionTrace::delta_bytes() const {
    const double of_head = shape_.tokens * shape_.head_dim * 4;
    if (on_gpu()) return of_head * (is_half() ? 2 : 1);
    return std::min(double(in_.threads), shape_.rows * shape_.heads) * of_head * (is_half() ? 3 : 1);
}

/// Returns whether attention runs on the CPU's native bfloat16 products, which take their operands in panels
/// (engine/attention/key_block_attention.h).
bool AttentionTrace::is_of_panels() const {
    return is_half() && !in_.widens() && std::fmod(shape_.head_dim, 2) == 0 && model_.score_softcap == 0;
}

/// Returns a task's bytes: keys and values by rows and columns, scores, queries by rows and twice in panels.
double AttentionTrace::of_panel_task(double keys, double rows, double head_dim, bool backward) const {
    const auto of_panels = [](double width) { return std::ceil(width / kPanel) * kPanel; };
    const double columns = of_panels(rows), cells = kScoreKeys * columns;
    const double block = 2 * (rows * (head_dim + of_panels(head_dim)) + columns * head_dim);
    const double sums = 4 * head_dim * columns;
    if (backward) return keys * (8 + 6) + 14 * cells + 2 * block + sums;
    return std::max(keys * 6, keys * 4 + 6 * cells + block + sums);
}

std::vector<const Stage*> AttentionTrace::stages(const AttentionSchedule& schedule, int most_rounds) const {
    const int rounds = std::min(most_rounds, static_cast<int>(std::ceil(1 / heads_at_once())));
    std::vector<const Stage*> stages;
    for (int round = 0; round < rounds; ++round)
        for (const Stage& stage : schedule.stages) stages.push_back(&stage);
    stages.push_back(nullptr);
    return stages;
}

void AttentionTrace::exchange(const Stage* next, KeysUnderWay& keys) {
    keys.held = std::move(keys.coming);
    if (next == nullptr || next->is_own) return;
    int64_t going = 0;
    for (const KeyExchange& exchange : next->exchanges) going = std::max(going, count_keys(exchange.sent));
    keys.coming =
        heap_.take(element() * sent_elements(double(next->keys) * gathered_), kCommunication, kKeys);
    Heap::Block sent = heap_.take(element() * sent_elements(double(going)), kCommunication, kKeys);
    keys.sent = std::move(sent);
}

double AttentionTrace::gradient_bytes(bool one_call) const {
    return is_flash() && one_call ? element() : 4;
}

double AttentionTrace::parts() const {
    double count = 0;
    for (const AttentionSchedule& pass : passes_)
        for (const Stage& stage : pass.stages)
            count += is_flash() ? double(!stage.slices.empty()) : double(stage.slices.size());
    return count * std::ceil(1 / heads_at_once());
}

double AttentionTrace::held_and_sum() const {
    const double held = double(parts_held(std::llround(shape_.queries() * element())));
    return std::min(parts(), held) * of_part() + (parts() > held ? 4 * shape_.queries() : 0);
}

double AttentionTrace::held_keys() const {
    if (!on_gpu()) return 0;
    const double all = 2 * shape_.keys() * element();
    double parts = 0;
    for (const Stage& stage : passes_[0].stages) {
        if (stage.is_own) parts += stage.one_call && !has_sums_of_kernels() ? all : 0;
        if (latents_ > 0) continue;  // gradients of latents are float32, and ranks add them as they arrive
        for (const KeyExchange& exchange : stage.exchanges)
            if (has_sums_of_kernels() ? !is_half() : exchange.sent_to_one_call || !is_flash())
                parts += element() * some_keys(double(count_keys(exchange.sent)));
    }
    return std::min(parts, double(parts_held(std::llround(all / 2))) * all);
}

void AttentionTrace::fetch(size_t pass, bool with_sums, PassUnderWay& under_way) {
    under_way.held = std::move(under_way.coming);
    if (!fetches() || pass + 1 == passes_.size()) return;
    const double bytes = 2 * shape_.keys() * (element() + (with_sums && passes_.size() > 2 ? 4 : 0));
    under_way.coming = heap_.take(bytes, kCommunication, "keys and values of other chunks");
}

void AttentionTrace::forward_pass(const AttentionSchedule& schedule) {
    KeysUnderWay keys;
    const Stage* used = nullptr;
    for (const Stage* next : stages(schedule, 2)) {  // one group of heads is sent while another computes
        exchange(next, keys);
        if (used != nullptr) {
            const Heap::Block made = keys_of_latents(*used);
            heap_.touch(of_kernel(*used, false), kWorkspace, kFlash);
        }
        used = next;
    }
}

void AttentionTrace::scheduled_forward() {
    const double of_queries = shape_.queries() * element();
    if (is_plain()) return heap_.touch(of_queries + statistics());
    const Heap::Block sums = heap_.take(has_sums_of_kernels() ? 4 * shape_.queries() + 2 * statistics()
                                                              : held_and_sum() + (2 + parts()) * statistics(),
                                        kWorkspace, "sums of attention's output");
    PassUnderWay under_way;
    for (size_t pass = 0; pass < passes_.size(); ++pass) {
        fetch(pass, false, under_way);
        forward_pass(passes_[pass]);
    }
    under_way = {};
    if (!has_sums_of_kernels()) return heap_.touch(of_queries);
    heap_.touch(1.25 * statistics());  // the divisor, and a mask of its zeros
    heap_.touch((is_half() ? of_queries : 0) + statistics());
}

/// Traces an all-to-all: each rank's parts, the joined parts that are sent, and the parts that are received.
/// Returns the received parts' memory and frees the rest.
Heap::Block AttentionTrace::tokens_to_heads(double bytes) {
    Heap::Block owned = heap_.take(bytes, kCommunication, kOwnedHeads);
    heap_.touch(2 * bytes, kCommunication, kOwnedHeads);
    return owned;
}

void AttentionTrace::forward_over_heads() {
    const double e = element(), q = shape_.queries() * e, keys_values = 2 * shape_.keys() * e;
    Heap::Block queries = tokens_to_heads(q);
    Heap::Block under_way = heap_.take(q, kCommunication);
    Heap::Block both = heap_.take(2 * in_.tokens() * kv_width() * e, kCommunication);
    Heap::Block keys = tokens_to_heads(keys_values);
    both.free();
    under_way.free();
    scheduled_forward();
    Heap::Block out = heap_.take(q);
    heap_.touch(q * (in_.micro > 1 ? 3 : 2), kCommunication);  // received and joined tensors
}

double AttentionTrace::launched_at_once() const {
    const auto heads = std::max<int64_t>(1, std::llround(shape_.heads));
    const auto group = std::max<int64_t>(1, std::llround(shape_.heads / shape_.kv_heads));
    return double(query_heads_at_once(std::llround(shape_.rows * shape_.tokens), heads, group)) /
           double(heads);
}

bool AttentionTrace::adds_keys() const {
    return is_flash() && !cuda_is_deterministic() && launched_at_once() * shape_.kv_heads < 1;
}

/// Returns the bytes that a GPU's backward kernel takes: dq, dk and dv of every query head; in bfloat16 also
/// their sums over groups of heads, and as many float32 copies of dq as its order of sums needs.
double AttentionTrace::flash_backward_bytes() const {
    const double heads = 2 * element() * shape_.queries();
    if (!is_flash()) return 4 * shape_.queries() + heads;
    const double sums = shape_.heads > shape_.kv_heads ? 2 * element() * shape_.keys() : 0;
    if (!cuda_is_deterministic()) {
        const double share = launched_at_once();
        const double dq = overwrites() ? 0 : element() * shape_.queries();
        const double dkv = adds_keys()    ? 4 * 2 * shape_.keys()
                           : overwrites() ? 0
                                          : element() * 2 * shape_.keys();
        const double joined = share < 1 && is_plain() ? dq + dkv : 0;
        return share * ((4 + element()) * shape_.queries() + heads) +
               std::max(share, 1 / shape_.kv_heads) * sums + joined;
    }
    const double at_once = std::min(shape_.tokens, double(blocks().queries_at_once)) / shape_.tokens;
    return (4 * double(blocks().copies) + element()) * shape_.queries() * at_once + heads + sums;
}

void AttentionTrace::backward_pass(const AttentionSchedule& schedule) {
    KeysUnderWay keys;
    Heap::Block going_home, arriving;
    const Stage* used = nullptr;
    for (const Stage* next : stages(schedule, 3)) {
        exchange(next, keys);
        if (used != nullptr) stage_backward(*used, going_home, arriving);
        used = next;
    }
    keys.held.free();
    // Half of the rank's own heads are computed last, while gradients travel.
    const bool halves = in_.gathered_heads == 0 && shape_.kv_heads > 1;
    for (const Stage& stage : schedule.stages)
        if (stage.is_own && halves && has_sums_of_kernels())
            heap_.touch(of_kernel(stage, true), kWorkspace, kFlash);
}

void AttentionTrace::scheduled_backward(Heap::Block& dq, Heap::Block& home) {
    if (is_plain() && !is_in_blocks()) {
        heap_.touch(flash_backward_bytes(), kWorkspace, kFlash);
        if (overwrites() && adds_keys()) home = heap_.take(4 * 2 * shape_.keys(), kWorkspace, kKeyGradients);
        if (overwrites()) return;
        dq = heap_.take(shape_.queries() * element(), kWorkspace, kQueryGradients);
        home = heap_.take(2 * shape_.keys() * element(), kWorkspace, kKeyGradients);
        return;
    }
    const double of_keys = has_sums_ ? 0 : 4 * 2 * shape_.keys() + held_keys();
    home = heap_.take(of_keys, kWorkspace, kKeyGradients);
    const Heap::Block of_latents =
        heap_.take(4 * shape_.rows * shape_.tokens * latents_, kWorkspace, kKeyGradients);
    dq = heap_.take(has_sums_of_kernels() ? 4 * shape_.queries() : held_and_sum(), kWorkspace,
                    kQueryGradients);
    Heap::Block delta;
    if (has_sums_of_kernels()) {
        delta = heap_.take(statistics());
        heap_.touch(delta_bytes());
    }
    PassUnderWay under_way;
    for (size_t pass = 0; pass < passes_.size(); ++pass) {
        fetch(pass, true, under_way);
        Heap::Block sums;  // sums of another chunk's keys; if they are in host memory, fetch() counts them
        if (pass > 0 && (!fetches() || passes_.size() == 2))
            sums = heap_.take(of_keys, kWorkspace, kKeyGradients);
        backward_pass(passes_[pass]);
        if (!fetches() && pass > 0) sums_of_others_.push_back(std::move(sums));
    }
    under_way = {};
    if (!has_sums_of_kernels() || (on_gpu() && is_half())) {
        Heap::Block whole = heap_.take(shape_.queries() * element(), kWorkspace, kQueryGradients);
        dq = std::move(whole);
    }
}

Heap::Block AttentionTrace::keys_of_latents(const Stage& stage) {
    if (latents_ == 0 || stage.is_own) return {};
    const LatentSizes& sizes = model_.latent;
    const double e = element(), tokens = shape_.rows * double(stage.keys);
    const Heap::Block read = heap_.take(e * tokens * double(sizes.rank));
    const Heap::Block product =
        heap_.take(e * tokens * shape_.heads * double(sizes.plain_width + sizes.value_width));
    return heap_.take(e * shape_.of_keys(double(stage.keys)), kWorkspace, kLatents);
}

Heap::Block AttentionTrace::latents_backward(const Stage& stage) {
    const LatentSizes& sizes = model_.latent;
    const double e = element(), tokens = shape_.rows * double(stage.keys);
    const Heap::Block product =
        heap_.take(e * tokens * shape_.heads * double(sizes.plain_width + sizes.value_width));
    Heap::Block gradient = heap_.take(4 * tokens * latents_, kCommunication, kKeyGradients);
    heap_.touch(e * tokens * double(sizes.rank));
    return gradient;
}

/// Traces a stage's gradients of keys: this stage's, those sent back to their ranks, and those that arrive.
void AttentionTrace::stage_backward(const Stage& stage, Heap::Block& going_home, Heap::Block& arriving) {
    const double of_keys = gradient_bytes(stage.one_call) * some_keys(double(stage.keys) * gathered_);
    Heap::Block gradients = stage.is_own ? Heap::Block() : heap_.take(of_keys, kCommunication, kKeyGradients);
    {
        const Heap::Block made = keys_of_latents(stage);
        heap_.touch(of_kernel(stage, true), kWorkspace, kFlash);
    }
    if (stage.is_own) return;
    if (latents_ > 0) gradients = latents_backward(stage);
    going_home = std::move(gradients);
    double arrives = 0;
    int64_t leaves = 0;
    for (const KeyExchange& exchange : stage.exchanges) {
        const double bytes = latents_ > 0 ? 4 : gradient_bytes(exchange.sent_to_one_call);
        arrives += bytes * double(count_keys(exchange.sent));
        leaves += exchange.received;
    }
    arriving.free();
    arriving = heap_.take(sent_elements(arrives * gathered_), kCommunication, kKeyGradients);
    if (leaves == 0) going_home.free();  // all gradients belong to this rank's keys, so none leave
}

void AttentionTrace::backward_over_heads(const std::function<void()>& sent,
                                         const std::function<void()>& read) {
    const double e = element(), q = shape_.queries() * e;
    const bool shared = model_.num_kv_heads < in_.ulysses;  // sums gradients of shared heads in float32
    const bool is_whole = is_plain() && !is_in_blocks();
    const bool sums = is_half() && has_sums_of_kernels();
    const bool rounds = on_gpu() ? is_flash() && !is_whole : sums;
    const bool rounds_keys = rounds || sums || adds_keys();
    const double own = 2 * shape_.keys() * (rounds_keys || !is_flash() ? 4 : e);
    const double keys_values = shared ? own : 2 * shape_.keys() * e;
    Heap::Block dout = tokens_to_heads(q), dq, home;
    sent();
    scheduled_backward(dq, home);
    read();
    dout.free();
    if (overwrites()) {  // reuses the memory of the queries and keys that were read
        dq = heap_.take(q, kWorkspace, kQueryGradients);
        if (!adds_keys()) home = heap_.take(own, kWorkspace, kKeyGradients);
    }
    const auto exchanged = [&](double bytes) { return heap_.take(bytes, kCommunication, kOwnedHeads); };
    Heap::Block sent_q = exchanged(rounds || in_.micro > 1 ? q : 0);
    Heap::Block received_q = exchanged(q);
    if (sent_q.bytes() > 0) dq.free();
    Heap::Block both = exchanged(own);
    Heap::Block sent_keys = exchanged(rounds_keys && !shared ? keys_values : 0);
    Heap::Block received_keys = exchanged(keys_values);
    home.free();
    if (sent_keys.bytes() > 0) both.free();  // rounded into another tensor, which is sent
    sent_q.free();
    dq.free();
    Heap::Block joined_q = heap_.take(q, kWorkspace, kQueryGradients);
    both.free();
    sent_keys.free();
    Heap::Block joined_keys = heap_.take(2 * in_.tokens() * kv_width() * e, kWorkspace, kKeyGradients);
    heap_.touch(shared ? keys_values : 0);
    received_q.free();
    received_keys.free();
    heap_.touch(q + 2 * in_.tokens() * kv_width() * e);  // all gradients, in the layout of the qkv matrix
}

}  // namespace ringmaster
