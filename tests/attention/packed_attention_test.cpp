// Compares slices that a flash kernel's twin computes in packed calls with the same slices computed one by
// one in float64.
#include "engine/attention/packed_attention.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "engine/attention/block_attention.h"
#include "engine/attention/deterministic.h"
#include "engine/error.h"
#include "engine/layout/layout.h"
#include "tests/attention/full_attention.h"
#include "tests/support/flash_twin.h"

namespace ringmaster {
namespace {

at::Tensor hidden_by(const std::vector<Slice>& slices, int64_t queries, int64_t keys) {
    at::Tensor hidden = at::ones({queries, keys}, at::kBool);
    for (const Slice& it : slices) {
        const int64_t rows = it.query_end - it.query_begin, columns = it.key_end - it.key_begin;
        at::Tensor seen = at::ones({rows, columns}, at::kBool);
        if (it.mask == SliceMask::Causal) seen = seen.tril();
        if (it.mask == SliceMask::InverseCausal) seen = seen.triu();
        at::Tensor part = hidden.narrow(0, it.query_begin, rows).narrow(1, it.key_begin, columns);
        part.logical_and_(seen.logical_not());
    }
    return hidden;
}

struct Tensors {
    at::Tensor q, dout, k, v;  // [B, T or S, H or K, D]
};

Tensors random_tensors(int64_t rows, int64_t queries, int64_t keys) {
    const auto random = [&](int64_t tokens, int64_t heads) { return at::randn({rows, tokens, heads, 16}); };
    return {random(queries, 4), random(queries, 4), random(keys, 2), random(keys, 2)};
}

void expect_close(const at::Tensor& ours, const at::Tensor& truth, const std::string& what) {
    const double largest = truth.abs().max().item<double>();
    EXPECT_LE((ours.to(at::kDouble) - truth).abs().max().item<double>(), 1e-5 * std::max(largest, 1e-3))
        << what;
}

/// Checks the forward and the backward pass. The backward pass runs in blocks of `at_once` queries, or at
/// once if `at_once` is 0.
void expect_whole(const Tensors& x, const std::vector<Slice>& slices, int64_t at_once,
                  const std::string& what) {
    const int64_t T = x.q.size(1), S = x.k.size(1);
    const FullAttention truth = full_attention(x.q, x.k, x.v, x.dout, hidden_by(slices, T, S));
    FlashTwin twin;
    FlashKernel kernel = twin.kernel();
    if (at_once > 0) kernel.queries_at_once = [=](const at::Tensor&) { return at_once; };
    const auto heads_first = [](const at::Tensor& t) { return t.transpose(1, 2); };
    const at::Tensor q = heads_first(x.q), dout = heads_first(x.dout), k = heads_first(x.k),
                     v = heads_first(x.v);
    PartSums out(q, PartSums::Kind::Outputs), dq(q, PartSums::Kind::Gradients);
    packed_forward(kernel, {out}, q, k, v, slices);
    const FlashOutput whole = out.finish();
    expect_close(heads_first(whole.out_bhtd), truth.out_bthd, what + ": out");
    EXPECT_TRUE(at::equal(at::isinf(whole.lse_bht), at::isinf(truth.lse_bht))) << what;
    expect_close(whole.lse_bht.nan_to_num(0, 0, 0), truth.lse_bht.nan_to_num(0, 0, 0), what + ": lse");

    for (const bool begin : {false, true}) {
        KeyGradients keys{at::full_like(k, begin ? NAN : 2), at::full_like(v, begin ? NAN : 3), begin};
        packed_backward(kernel, {dq}, keys, dout, q, k, v, whole, slices);
        expect_close(heads_first(keys.dk_bksd) - (begin ? 0 : 2), truth.dk_bskd, what + ": dk");
        expect_close(heads_first(keys.dv_bksd) - (begin ? 0 : 3), truth.dv_bskd, what + ": dv");
    }
    expect_close(heads_first(dq.finish().out_bhtd) / 2, truth.dq_bthd, what + ": dq");
    if (!is_one_call(slices)) return;
    KeyGradients made;
    packed_backward(kernel, {dq}, made, dout, q, k, v, whole, slices);
    expect_close(heads_first(made.dk_bksd), truth.dk_bskd, what + ": dk of one call");
    expect_close(heads_first(made.dv_bksd), truth.dv_bskd, what + ": dv of one call");
}

AttentionMask random_mask(std::mt19937& random) {
    const auto draw = [&](int64_t from, int64_t to) {
        return std::uniform_int_distribution<int64_t>(from, to)(random);
    };
    AttentionMask mask;
    for (int64_t end = draw(1, 30); end < 64; end += draw(1, 30)) mask.documents.push_back(end);
    mask.documents.push_back(64);
    if (draw(0, 1) == 1) mask.window = draw(1, 40);
    if (draw(0, 1) == 1) {  // all documents share the first one as their prompt
        mask.continues.assign(mask.documents.size(), 0);
        mask.continues[0] = -1;
    }
    return mask;
}

TEST(PackedAttention, OfAnyHopIsTheSlicesAttention) {
    at::set_num_threads(1);  // the products are tiny
    at::manual_seed(3);
    std::mt19937 random(3);
    for (int round = 0; round < 24; ++round) {
        const AttentionMask mask = round % 6 == 0 ? AttentionMask{} : random_mask(random);
        const RingAttnFunc func = std::array{RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe,
                                             RingAttnFunc::VarlenZigzag}[static_cast<size_t>(round) % 3];
        AttentionMask fitting = mask;
        if (func == RingAttnFunc::VarlenZigzag) {
            fitting.documents = {16, 24, 64};
            if (!fitting.continues.empty()) fitting.continues = {-1, 0, 0};
        }
        const Layout layout = make_layout(func, 64, 2, 1, fitting);
        const int rank = round / 3 % 2;
        const AttentionSchedule schedule = make_ring_schedule(layout.ranks, rank, fitting);
        for (const Stage& stage : schedule.stages) {
            if (stage.slices.empty()) continue;
            const int64_t queries = layout.tokens_of(rank), rows = 1 + round % 2;
            expect_whole(random_tensors(rows, queries, stage.keys), stage.slices, round % 4 == 3 ? 7 : 0,
                         "round " + std::to_string(round));
        }
    }
}

TEST(PackedAttention, OfSlicesThatShareQueriesIsTheirAttention) {
    at::set_num_threads(1);
    at::manual_seed(4);
    const std::vector<Slice> slices = {{0, 8, 0, 8, SliceMask::Causal},
                                       {4, 12, 10, 14, SliceMask::Full},
                                       {2, 7, 15, 20, SliceMask::InverseCausal},
                                       {16, 20, 20, 24, SliceMask::Causal}};
    for (const int64_t at_once : {0, 5}) expect_whole(random_tensors(2, 24, 26), slices, at_once, "shared");
}

/// Expects that all documents are computed in one call that copies nothing. The last `padding` tokens are
/// padding.
void expect_one_call(int64_t padding) {
    const Tensors x = random_tensors(1, 64, 64);
    AttentionMask mask;
    mask.documents = {20, 33, 64 - padding};
    const auto slices = make_slices({{0, 64, 1}}, {{0, 64, 1}}, mask);
    FlashTwin twin;
    twin.keys = x.k;
    const at::Tensor q = x.q.transpose(1, 2), k = x.k.transpose(1, 2), v = x.v.transpose(1, 2);
    const auto whole = one_call_forward(twin.kernel(), q, k, v, slices);
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(twin.calls, 1);
    EXPECT_EQ(twin.copied_keys, 0);
    const FullAttention truth = full_attention(x.q, x.k, x.v, x.dout, hidden_by(slices, 64, 64));
    expect_close(whole->out_bhtd.transpose(1, 2), truth.out_bthd, "out");
    EXPECT_TRUE(at::equal(at::isneginf(whole->lse_bht), at::isneginf(truth.lse_bht)));
    const auto d = one_call_backward(twin.kernel(), x.dout.transpose(1, 2), q, k, v, *whole, slices);
    ASSERT_TRUE(d.has_value());
    expect_close(d->dq_bhtd.transpose(1, 2), truth.dq_bthd, "dq");
    expect_close(d->dk_bksd.transpose(1, 2), truth.dk_bskd, "dk");
    expect_close(d->dv_bksd.transpose(1, 2), truth.dv_bskd, "dv");
}

TEST(PackedAttention, OfAdjacentDocumentsIsOneCallThatCopiesNothing) {
    at::set_num_threads(1);
    for (const int64_t padding : {0, 14}) expect_one_call(padding);
}

/// Checks that a backward pass of 8 heads is split into `launches` launches for a GPU with 12
/// multiprocessors, and that its gradients equal those of a single launch.
void expect_launches(const std::vector<Slice>& slices, int64_t tokens, int launches) {
    const auto random = [&](int64_t heads) { return at::randn({1, tokens, heads, 8}).transpose(1, 2); };
    const at::Tensor q = random(8), dout = random(8), k = random(4), v = random(4);
    FlashTwin twin;
    const auto whole = one_call_forward(twin.kernel(), q, k, v, slices);
    ASSERT_TRUE(whole.has_value());
    const auto plain = one_call_backward(twin.kernel(), dout, q, k, v, *whole, slices);
    FlashKernel kernel = twin.kernel();
    kernel.multiprocessors = [](const at::Tensor&) { return 12; };
    twin.calls = 0;
    const auto d = one_call_backward(kernel, dout, q, k, v, *whole, slices);
    EXPECT_EQ(twin.calls, launches);
    ASSERT_TRUE(plain.has_value() && d.has_value());
    EXPECT_TRUE(at::equal(d->dq_bhtd, plain->dq_bhtd));
    EXPECT_TRUE(at::equal(d->dk_bksd, plain->dk_bksd));
    EXPECT_TRUE(at::equal(d->dv_bksd, plain->dv_bksd));
    // With the last argument set, a launch may write gradients into the memory of the tensors that it reads.
    const at::Tensor own_q = q.clone(), own_k = k.clone(), own_v = v.clone();
    const auto in_place = one_call_backward(kernel, dout, own_q, own_k, own_v, *whole, slices, true);
    ASSERT_TRUE(in_place.has_value());
    EXPECT_EQ(in_place->dq_bhtd.is_alias_of(own_q), slices.size() == 1);
    EXPECT_TRUE(at::equal(in_place->dq_bhtd, plain->dq_bhtd));
    EXPECT_TRUE(at::equal(in_place->dk_bksd, plain->dk_bksd));
    EXPECT_TRUE(at::equal(in_place->dv_bksd, plain->dv_bksd));
}

/// If each launch takes some query heads of a group, all launches add to the gradients of the keys that these
/// heads share.
TEST(PackedAttention, OfPartsOfAGroupIsThatOfAllItsHeads) {
    at::set_num_threads(1);
    const auto random = [&](int64_t heads) { return at::randn({1, 96, heads, 8}).transpose(1, 2); };
    const at::Tensor q = random(6), dout = random(6), k = random(2), v = random(2);
    const std::vector<Slice> slices = {{0, 96, 0, 96, SliceMask::Causal}};
    FlashTwin twin;
    const auto whole = one_call_forward(twin.kernel(), q, k, v, slices);
    const auto plain = one_call_backward(twin.kernel(), dout, q, k, v, *whole, slices);
    for (const int64_t at_once : {1, 2, 3}) {
        FlashKernel kernel = twin.kernel();
        kernel.heads_at_once = [at_once](const at::Tensor&, int64_t) { return at_once; };
        twin.calls = 0;
        const at::Tensor own_q = q.clone();
        const auto d = one_call_backward(kernel, dout, own_q, k.clone(), v.clone(), *whole, slices, true);
        ASSERT_TRUE(plain.has_value() && d.has_value());
        EXPECT_EQ(twin.calls, at_once == 1 ? 6 : at_once == 2 ? 4 : 2);
        EXPECT_TRUE(d->dq_bhtd.is_alias_of(own_q));
        EXPECT_TRUE(at::equal(d->dq_bhtd, plain->dq_bhtd));
        expect_close(d->dk_bksd, plain->dk_bksd, "dk");
        expect_close(d->dv_bksd, plain->dv_bksd, "dv");
    }
}

TEST(PackedAttention, OfSeveralLaunchesIsThatOfOne) {
    at::set_num_threads(1);
    // 6 and 2 heads make 12 thread blocks each; 8 heads would make 16, which takes two rounds.
    expect_launches({{0, 1024, 0, 1024, SliceMask::Causal}}, 1024, 2);
    // One long document lies among short ones, with padding at the end.
    AttentionMask mask;
    mask.documents = {100, 150, 1200, 1250, 1300};
    expect_launches(make_slices({{0, 1450, 1}}, {{0, 1450, 1}}, mask), 1450, 4);
}

TEST(PackedAttention, OfOneQueryAndItsKeysIsDense) {
    FlashTwin twin;
    const Tensors x = random_tensors(2, 1, 1);
    const auto whole = one_call_forward(twin.kernel(), x.q.transpose(1, 2), x.k.transpose(1, 2),
                                        x.v.transpose(1, 2), {{0, 1, 0, 1, SliceMask::Causal}});
    ASSERT_TRUE(whole.has_value());
    expect_close(whole->out_bhtd.transpose(1, 2), x.v.repeat_interleave(2, 2).to(at::kDouble), "out");
}

TEST(PackedAttention, IsNotOneCallWhereWindowsDiffer) {
    const Tensors x = random_tensors(1, 8, 8);
    FlashTwin twin;
    EXPECT_FALSE(one_call_forward(twin.kernel(), x.q.transpose(1, 2), x.k.transpose(1, 2),
                                  x.v.transpose(1, 2),
                                  {{0, 4, 0, 4, SliceMask::Causal}, {4, 8, 4, 8, SliceMask::InverseCausal}})
                     .has_value());
    EXPECT_EQ(twin.calls, 0);
}

TEST(Deterministic, LibTorchIsToldWhileOneHoldsIt) {
    EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
    {
        const Deterministic none(false);
        EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
        const Deterministic outer(true);
        { const Deterministic inner(true); }
        EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
        EXPECT_FALSE(at::globalContext().deterministicFillUninitializedMemory());
    }
    EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
}

/// In tests, ranks are threads of one process, so the switch must stay on while any thread holds it.
TEST(Deterministic, StaysOnForEachOfManyThreads) {
    constexpr int kThreads = 4, kRounds = 50000;
    std::atomic<int> found_off = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&] {
                for (int round = 0; round < kRounds; ++round) {
                    const Deterministic held(true);
                    if (!at::globalContext().deterministicAlgorithms()) ++found_off;
                }
            });
        }
    }
    EXPECT_EQ(found_off, 0);
    EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
}

TEST(Deterministic, IsAskedForByASwitchThatTakesNoughtOrOne) {
    EXPECT_FALSE(cuda_is_deterministic());
    EXPECT_TRUE(deterministic_named("1"));
    EXPECT_FALSE(deterministic_named("0"));
    EXPECT_THROW(deterministic_named("yes"), Error);
}

}  // namespace
}  // namespace ringmaster
