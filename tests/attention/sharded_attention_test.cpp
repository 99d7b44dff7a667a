#include "engine/attention/sharded_attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "engine/attention/head_exchange.h"
#include "tests/attention/full_attention.h"
#include "tests/plan/layout_cases.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

struct Heads {
    int64_t query, key;
};

struct Split {
    int ring, ulysses;

    Mesh mesh() const {
        Mesh mesh;
        mesh.ring = ring;
        mesh.ulysses = ulysses;
        return mesh;
    }
};

at::Tensor positions(const Spans& spans) {
    std::vector<at::Tensor> parts;
    for (const Span& span : spans) parts.push_back(at::arange(span.begin, span.end, span.step, at::kLong));
    return at::cat(parts);
}

struct Inputs {
    at::Tensor q, k, v, dout;  // [B, tokens, heads, D]

    Inputs of(const at::Tensor& at) const {
        auto part = [&](const at::Tensor& whole) { return whole.index_select(1, at); };
        return {part(q), part(k), part(v), part(dout)};
    }
};

Inputs random_inputs(int64_t rows, int64_t tokens, Heads heads, int64_t head_dim, at::ScalarType dtype,
                     uint64_t seed = 0) {
    at::manual_seed(seed * 10000 + static_cast<uint64_t>(rows * 1000 + tokens));
    auto random = [&](int64_t count) { return at::randn({rows, tokens, count, head_dim}).to(dtype); };
    return {random(heads.query), random(heads.key), random(heads.key), random(heads.query)};
}

struct Result {
    AttentionOutput output;
    AttentionGradients gradients;

    at::Tensor bits() const {
        return at::cat({output.out_bthd.flatten(), output.lse_bht.flatten(), gradients.dq_bthd.flatten(),
                        gradients.dk_btkd.flatten(), gradients.dv_btkd.flatten()});
    }
};

/// Describes how the tokens of a sequence are split over the ranks.
struct Way {
    RingAttnFunc func;
    Split split;
    int64_t gathered_heads = 0;

    Layout layout(int64_t tokens, const AttentionMask& mask) const {
        return make_layout(func, tokens, split.ring, split.ulysses, mask);
    }
};

/// Returns every rank's results, by global rank.
std::vector<Result> run(const Way& way, const AttentionMask& mask, const Inputs& inputs,
                        const at::Tensor& sinks_h = {}) {
    const Mesh mesh = way.split.mesh();
    const Layout layout = way.layout(inputs.q.size(1), mask);
    std::vector<Result> results(static_cast<size_t>(mesh.ranks()));
    run_ranks(mesh, [&](int rank, Groups& groups) {
        const Inputs own = inputs.of(positions(layout.ranks[static_cast<size_t>(mesh.context_rank(rank))]));
        ShardedAttention attention(groups, layout, mask, way.gathered_heads);
        Result& result = results[static_cast<size_t>(rank)];
        result.output = attention.forward(own.q, own.k, own.v, sinks_h);
        result.gradients = attention.backward(own.dout, own.q, own.k, own.v, result.output, sinks_h);
    });
    return results;
}

/// Returns the part of the log-sum-exps that `rank` holds: with Ulysses, those of the rank's heads for all
/// tokens of its Ulysses group.
at::Tensor own_lse(const at::Tensor& lse_bht, const Layout& layout, const Split& split, Heads heads,
                   int rank) {
    const HeadRange own =
        split_heads(heads.query, heads.key, split.ulysses)[static_cast<size_t>(rank % split.ulysses)].queries;
    return lse_bht.narrow(1, own.begin, own.count)
        .index_select(2, positions(ring_spans(layout, rank / split.ulysses, split.ulysses)));
}

/// Joins the ranks' out, dq, dk and dv into tensors of the whole sequence.
std::vector<at::Tensor> whole_of(const std::vector<Result>& results, const Layout& layout,
                                 const Inputs& inputs) {
    std::vector<at::Tensor> whole;
    for (const at::Tensor& x : {inputs.q, inputs.q, inputs.k, inputs.v}) whole.push_back(at::empty_like(x));
    for (size_t rank = 0; rank < results.size(); ++rank) {
        const Result& own = results[rank];
        const at::Tensor at = positions(layout.ranks[rank]);
        size_t i = 0;
        EXPECT_EQ(own.output.out_bthd.scalar_type(), inputs.q.scalar_type());
        for (const at::Tensor& x :
             {own.output.out_bthd, own.gradients.dq_bthd, own.gradients.dk_btkd, own.gradients.dv_btkd}) {
            EXPECT_TRUE(x.scalar_type() == inputs.q.scalar_type() || x.scalar_type() == at::kFloat);
            whole[i++].index_copy_(1, at, x.to(inputs.q.scalar_type()));
        }
    }
    return whole;
}

/// Holds the errors of out, dq, dk and dv.
struct Errors {
    std::vector<double> largest;  ///< largest difference divided by the largest value
    std::vector<double> norm;  ///< norm of the difference divided by the norm; one element hardly changes it

    void keep_largest(const Errors& other) {
        if (largest.empty()) *this = other;
        for (size_t i = 0; i < largest.size(); ++i) {
            largest[i] = std::max(largest[i], other.largest[i]);
            norm[i] = std::max(norm[i], other.norm[i]);
        }
    }

    void print(const char* what) const {
        std::printf("%s, out dq dk dv: largest error %.2e %.2e %.2e %.2e, of the norm %.2e %.2e %.2e %.2e\n",
                    what, largest[0], largest[1], largest[2], largest[3], norm[0], norm[1], norm[2], norm[3]);
    }
};

Errors errors_of(const std::vector<at::Tensor>& ours, const FullAttention& truth) {
    Errors errors;
    size_t i = 0;
    for (const at::Tensor& x : {truth.out_bthd, truth.dq_bthd, truth.dk_bskd, truth.dv_bskd}) {
        errors.largest.push_back(relative_error(ours[i], x));
        errors.norm.push_back(((ours[i++] - x).norm() / x.norm()).item<double>());
    }
    return errors;
}

void expect_lse(const std::vector<Result>& results, const Way& way, const Layout& layout,
                const at::Tensor& lse_bht, Heads heads) {
    for (size_t rank = 0; rank < results.size(); ++rank) {
        const at::Tensor truth = own_lse(lse_bht, layout, way.split, heads, static_cast<int>(rank));
        const at::Tensor ours = results[rank].output.lse_bht, seen = truth.isfinite();
        EXPECT_TRUE(at::equal(ours.isfinite(), seen)) << "of padding minus infinity";
        if (seen.any().item<bool>()) {
            EXPECT_LT(relative_error(ours.masked_select(seen), truth.masked_select(seen)), 1e-2);
        }
    }
}

/// Returns the errors of LibTorch's flash attention on one rank, in the inputs' dtype. That kernel does not
/// support queries that see no key. Here these queries see themselves, and their results are not compared.
Errors flash_errors(const AttentionMask& mask, const Inputs& in) {
    const at::Tensor hidden_ts = hidden_by(mask, in.q.size(1)), blind_t = hidden_ts.all(1);
    const at::Tensor seen_t11 = blind_t.logical_not().view({-1, 1, 1}).to(in.q.scalar_type());
    const at::Tensor bias =
        at::zeros(hidden_ts.sizes(), in.q.options())
            .masked_fill(hidden_ts.logical_and(at::diag(blind_t).logical_not()), -INFINITY);
    const auto heads_first = [](const at::Tensor& x) { return x.transpose(1, 2); };
    const at::Tensor q = heads_first(in.q), k = heads_first(in.k), v = heads_first(in.v);
    const auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, false, bias);
    const auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        heads_first(in.dout * seen_t11), q, k, v, out, lse, 0.0, false, bias);
    return errors_of({heads_first(out) * seen_t11, heads_first(dq), heads_first(dk), heads_first(dv)},
                     full_attention(in.q, in.k, in.v, in.dout, hidden_ts));
}

/// Runs attention split as `way` says and returns its errors against full attention in float64. Fails the
/// test if an error in float32 is too large or, with `twice`, if a second run differs in a bit.
Errors expect_full_attention(const Way& way, const AttentionMask& mask, const Inputs& inputs, bool twice) {
    const int64_t tokens = inputs.q.size(1);
    const Heads heads{inputs.q.size(2), inputs.k.size(2)};
    const Layout layout = way.layout(tokens, mask);
    const FullAttention truth =
        full_attention(inputs.q, inputs.k, inputs.v, inputs.dout, hidden_by(mask, tokens));
    const std::vector<Result> results = run(way, mask, inputs);
    const Errors errors = errors_of(whole_of(results, layout, inputs), truth);
    if (inputs.q.scalar_type() == at::kFloat) {
        EXPECT_THAT(errors.largest, ::testing::Each(::testing::Le(1e-5))) << "out, dq, dk, dv";
    }
    expect_lse(results, way, layout, truth.lse_bht, heads);
    if (twice) {
        const std::vector<Result> again = run(way, mask, inputs);
        for (size_t rank = 0; rank < results.size(); ++rank)
            EXPECT_TRUE(at::equal(results[rank].bits(), again[rank].bits())) << "rank " << rank;
    }
    return errors;
}

/// Expects each bfloat16 error to be at most 1.1 times that of LibTorch's flash attention on one rank.
void expect_no_worse(const std::vector<double>& ours, const std::vector<double>& flash) {
    for (size_t i = 0; i < ours.size(); ++i) EXPECT_LE(ours[i], 1.1 * flash[i]) << "out, dq, dk, dv: " << i;
}

constexpr int64_t kTokens = 48;

/// Holds a mask and its name: one document or several, windows, padding, or shared prompts.
struct NamedMask {
    const char* name;
    AttentionMask mask;
};
const NamedMask kMasks[] = {{"dense", {}},
                            {"packed", {{1, 14, 15, 31, 43}, 0, true}},
                            {"window", {{20, 48}, 7, true}},
                            {"both_ways", {{30, 48}, 9, false}},
                            {"shared", {{12, 15, 23, 30, 33, 44}, 0, true, {-1, 0, 0, -1, 3, 0}}},
                            {"shared_window", {{12, 15, 23, 48}, 6, true, {-1, 0, 0, 0}}}};

struct TableCase {
    Way way;
    Heads heads;
    NamedMask mask;
    at::ScalarType dtype;

    /// Describes the inputs and the mask.
    std::string shape() const {
        return std::to_string(heads.query) + ":" + std::to_string(heads.key) + " " + mask.name +
               (dtype == at::kFloat ? " fp32" : " bf16");
    }

    std::string text() const {
        return std::string(to_string(way.func)) + " ring " + std::to_string(way.split.ring) + " ulysses " +
               std::to_string(way.split.ulysses) + " gathered " + std::to_string(way.gathered_heads) +
               " heads " + shape();
    }
};

std::vector<TableCase> table() {
    const RingAttnFunc funcs[] = {RingAttnFunc::BatchRing,   RingAttnFunc::BatchZigzag,
                                  RingAttnFunc::BatchStripe, RingAttnFunc::VarlenLlama3,
                                  RingAttnFunc::VarlenRing,  RingAttnFunc::VarlenZigzag,
                                  RingAttnFunc::Balanced};
    const Split splits[] = {{1, 1}, {2, 1}, {1, 2}, {3, 1}, {1, 3}, {4, 1},
                            {2, 2}, {1, 4}, {8, 1}, {4, 2}, {2, 4}, {1, 8}};
    const Heads all_heads[] = {{8, 8}, {8, 2}, {6, 3}, {14, 2}, {8, 1}};
    std::vector<TableCase> cases;
    for (const RingAttnFunc func : funcs) {
        for (const Split& split : splits) {
            for (const Heads& heads : all_heads) {
                if (heads.query < split.ulysses) continue;  // such a split is refused
                for (const NamedMask& mask : kMasks) {
                    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
                        if (func != RingAttnFunc::VarlenLlama3) {
                            cases.push_back({{func, split, 0}, heads, mask, dtype});
                            continue;
                        }
                        for (const int64_t stride : {1, 2})
                            cases.push_back({{func, split, stride}, heads, mask, dtype});
                    }
                }
            }
        }
    }
    return cases;
}

/// Checks every `stride`-th case, each with new inputs. In bfloat16, each case's error norms must be no worse
/// than flash attention's for the same inputs, and the largest error over all cases no worse than flash's.
/// Prints the largest ratio, over all cases, of our largest error to flash attention's.
void expect_table(size_t stride, bool twice) {
    const std::vector<TableCase> cases = table();
    std::map<at::ScalarType, Errors> most;
    Errors most_flash;
    std::vector<double> of_flash(4);  // largest ratio over all cases, for out, dq, dk and dv
    size_t count = 0;
    for (size_t i = 0; i < cases.size(); i += stride, ++count) {
        const TableCase& it = cases[i];
        SCOPED_TRACE(it.text());
        const Inputs inputs =
            random_inputs(1 + static_cast<int64_t>(count % 2), kTokens, it.heads, 16, it.dtype, i);
        const Errors errors = expect_full_attention(it.way, it.mask.mask, inputs, twice);
        most[it.dtype].keep_largest(errors);
        if (it.dtype == at::kFloat) continue;
        const Errors flash = flash_errors(it.mask.mask, inputs);
        expect_no_worse(errors.norm, flash.norm);
        most_flash.keep_largest(flash);
        for (size_t x = 0; x < of_flash.size(); ++x)
            of_flash[x] = std::max(of_flash[x], errors.largest[x] / flash.largest[x]);
    }
    expect_no_worse(most[at::kBFloat16].largest, most_flash.largest);
    std::printf("%zu cases\n", count);
    most[at::kFloat].print("float32");
    most[at::kBFloat16].print("bfloat16");
    most_flash.print("LibTorch's flash in bfloat16 on one rank");
    std::printf("largest error of one case, of flash's: %.2f %.2f %.2f %.2f\n", of_flash[0], of_flash[1],
                of_flash[2], of_flash[3]);
}

/// Runs each case twice; the second run must give the same bits.
TEST(ShardedAttention, IsFullAttentionEveryTimeOnASpreadOfTheTable) {
    expect_table(41, true);
}

TEST(ShardedAttentionExhaustive, IsFullAttentionOnTheWholeTable) {
    expect_table(1, false);
}

TEST(ShardedAttention, TakesUnevenShards) {
    for (const Way& way :
         {Way{RingAttnFunc::Balanced, {3, 1}, 0}, Way{RingAttnFunc::VarlenLlama3, {4, 1}, 1},
          Way{RingAttnFunc::VarlenZigzag, {2, 3}, 0}, Way{RingAttnFunc::Balanced, {1, 4}, 0}}) {
        expect_full_attention(way, {{5, 23, 41}, 0, true}, random_inputs(1, 47, {6, 2}, 16, at::kFloat),
                              false);
    }
}

/// Adds a key whose score is the sink, and whose value is 0, to a full attention in float64.
struct FullWithSinks {
    at::Tensor out_bthd, dq_bthd, dk_bskd, dv_bskd, dsinks_h;

    FullWithSinks(const Inputs& in, const at::Tensor& sinks_h, const at::Tensor& hidden_ts) {
        const auto leaf = [](const at::Tensor& x) { return x.to(at::kDouble).requires_grad_(true); };
        const at::Tensor q = leaf(in.q), k = leaf(in.k), v = leaf(in.v), sinks = leaf(sinks_h);
        const int64_t B = q.size(0), T = q.size(1), H = q.size(2);
        const auto heads = [&](const at::Tensor& x) {
            return x.transpose(1, 2).repeat_interleave(H / x.size(2), 1);
        };
        const at::Tensor scores =
            at::matmul(heads(q), heads(k).transpose(2, 3)) / std::sqrt(double(q.size(3)));
        const at::Tensor all = at::cat(
            {scores.masked_fill(hidden_ts, -INFINITY), sinks.view({1, H, 1, 1}).expand({B, H, T, 1})}, 3);
        const at::Tensor out = at::matmul(at::softmax(all, 3).narrow(3, 0, T), heads(v)).transpose(1, 2);
        out.backward(in.dout.to(at::kDouble));
        out_bthd = out.detach();
        dq_bthd = q.grad();
        dk_bskd = k.grad();
        dv_bskd = v.grad();
        dsinks_h = sinks.grad();
    }
};

TEST(ShardedAttention, SinksTakeTheirShareOnceOnEveryMesh) {
    const AttentionMask packed{{20, 48}, 7, true};
    for (const auto& [way, mask] : {std::pair<Way, AttentionMask>{{RingAttnFunc::BatchRing, {1, 1}}, {}},
                                    {{RingAttnFunc::BatchZigzag, {3, 1}}, packed},
                                    {{RingAttnFunc::BatchZigzag, {1, 4}}, {}},
                                    {{RingAttnFunc::VarlenZigzag, {2, 2}}, packed},
                                    {{RingAttnFunc::VarlenLlama3, {2, 1}, 1}, packed}}) {
        const Inputs inputs = random_inputs(2, kTokens, {6, 3}, 16, at::kFloat);
        const at::Tensor sinks_h = at::randn({6});
        const FullWithSinks truth(inputs, sinks_h, hidden_by(mask, kTokens));
        const Layout layout = way.layout(kTokens, mask);
        const std::vector<Result> results = run(way, mask, inputs, sinks_h);
        const std::vector<at::Tensor> ours = whole_of(results, layout, inputs);
        at::Tensor dsinks_h = at::zeros({6});
        for (const Result& result : results) dsinks_h += result.gradients.dsinks_h;
        EXPECT_LT(relative_error(ours[0], truth.out_bthd), 1e-5);
        EXPECT_LT(relative_error(ours[1], truth.dq_bthd), 1e-5);
        EXPECT_LT(relative_error(ours[2], truth.dk_bskd), 1e-5);
        EXPECT_LT(relative_error(ours[3], truth.dv_bskd), 1e-5);
        EXPECT_LT(relative_error(dsinks_h, truth.dsinks_h), 1e-5);
    }
}

TEST(ShardedAttention, IsExactOverManyBlocksOfScores) {
    for (const Split split : {Split{2, 1}, Split{1, 2}}) {
        expect_full_attention({RingAttnFunc::BatchZigzag, split, 0}, {},
                              random_inputs(1, 1200, {4, 2}, 32, at::kFloat), false);
        expect_full_attention({RingAttnFunc::Balanced, split, 0}, {{300, 1150}, 100, true},
                              random_inputs(1, 1200, {4, 2}, 32, at::kFloat), false);
    }
}

struct SentBytes {
    int64_t forward = 0, backward = 0;
};

std::vector<SentBytes> sent_bytes(const Way& way, const AttentionMask& mask, int64_t tokens, Heads heads,
                                  int64_t head_dim, at::ScalarType dtype) {
    const Mesh mesh = way.split.mesh();
    const Layout layout = way.layout(tokens, mask);
    const Inputs inputs = random_inputs(2, tokens, heads, head_dim, dtype);
    std::vector<SentBytes> sent(static_cast<size_t>(mesh.ranks()));
    run_ranks(mesh, [&](int rank, Groups& groups) {
        const Inputs own = inputs.of(positions(layout.ranks[static_cast<size_t>(rank)]));
        ShardedAttention attention(groups, layout, mask, way.gathered_heads);
        const AttentionOutput output = attention.forward(own.q, own.k, own.v);
        sent[static_cast<size_t>(rank)].forward = groups.take_totals().sent_bytes;
        attention.backward(own.dout, own.q, own.k, own.v, output);
        sent[static_cast<size_t>(rank)].backward = groups.take_totals().sent_bytes;
    });
    return sent;
}

/// The formulas of ring-flash-attention use P ranks, t tokens per rank over all rows, K key/value heads and
/// head_dim d. A rank of a ring or a gather sends (P−1)·2·t·K·d elements of the inputs' dtype in the forward
/// and again in the backward pass. The backward pass also sends at least (P−1)·2·t·K·d gradients. Ringmaster
/// sends only the keys that the slices read, and never more than the formulas say.
TEST(ShardedAttentionBytes, AreThoseThatTheSlicesReadAndNeverMoreThanTheFormulas) {
    const int64_t P = 4, t = 2 * 12, K = 2, d = 16;
    for (const NamedMask& mask : kMasks) {
        for (const auto& [dtype, size] : {std::pair{at::kFloat, 4}, std::pair{at::kBFloat16, 2}}) {
            for (const RingAttnFunc func :
                 {RingAttnFunc::BatchRing, RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe,
                  RingAttnFunc::VarlenLlama3, RingAttnFunc::VarlenRing, RingAttnFunc::VarlenZigzag,
                  RingAttnFunc::Balanced}) {
                SCOPED_TRACE(std::string(to_string(func)) + " " + mask.name);
                const Way way{func, {4, 1}, func == RingAttnFunc::VarlenLlama3 ? 1 : 0};
                const Layout layout = way.layout(48, mask.mask);
                const auto sent = sent_bytes(way, mask.mask, 48, {8, K}, d, dtype);
                int64_t forward = 0, backward = 0;
                for (int rank = 0; rank < P; ++rank) {
                    const AttentionSchedule schedule = make_ring_schedule(layout.ranks, rank, mask.mask);
                    const int64_t of_key = 2 * 2 * K * d;  // 2 rows, each with a key and its value
                    const SentBytes& own = sent[static_cast<size_t>(rank)];
                    EXPECT_EQ(own.forward, sent_keys(schedule) * of_key * size);
                    EXPECT_EQ(own.backward,
                              sent_keys(schedule) * of_key * size + received_keys(schedule) * of_key * 4);
                    forward += own.forward;
                    backward += own.backward;
                }
                EXPECT_LE(forward, P * (P - 1) * 2 * t * K * d * size);
                EXPECT_LE(backward, P * ((P - 1) * 2 * t * K * d * size + P * 2 * t * K * d * 4));
                EXPECT_GT(forward, 0);
            }
        }
    }
}

TEST(ShardedAttentionBytes, AreNoneWhereDocumentsAreAlignedToShards) {
    for (const Way& way :
         {Way{RingAttnFunc::BatchRing, {4, 1}, 0}, Way{RingAttnFunc::VarlenLlama3, {4, 1}, 1},
          Way{RingAttnFunc::Balanced, {4, 1}, 0}}) {
        for (const SentBytes& rank :
             sent_bytes(way, {{12, 24, 36, 48}, 0, true}, 48, {4, 2}, 16, at::kFloat)) {
            EXPECT_EQ(rank.forward, 0);
            EXPECT_EQ(rank.backward, 0);
        }
    }
}

/// In the forward pass, and again in the backward pass, a rank sends (P−1)/P · t·d·(2H + 2·max(K, P))
/// elements. Source: Jacobs et al. 2023, extended to grouped heads.
TEST(ShardedAttentionBytes, OfUlyssesAreTheFormula) {
    const int64_t P = 4, t = 2 * 12, H = 8, K = 2, d = 16;
    for (const SentBytes& rank :
         sent_bytes({RingAttnFunc::BatchRing, {1, 4}, 0}, {}, 48, {H, K}, d, at::kFloat)) {
        EXPECT_EQ(rank.forward, (P - 1) * t * d * (2 * H + 2 * P) * 4 / P);
        EXPECT_EQ(rank.backward, rank.forward);
    }
}

TEST(ShardedAttention, SaysWhichRankItsKeysDidNotComeFrom) {
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, 48, 2, 1);
    const Inputs own = random_inputs(1, 24, {4, 2}, 16, at::kFloat);
    std::string text;
    run_ranks(ring_mesh(2), [&](int rank, Groups& groups) {
        groups.world().barrier();
        if (rank == 0) return;  // rank 0 leaves, so the others' transfers fail
        groups.progress().enter_layer(Pass::Forward, 3);
        try {
            ShardedAttention(groups, layout).forward(own.q, own.k, own.v);
        } catch (const Error& error) {
            text = error.text();
        }
    });
    EXPECT_THAT(text, ::testing::ContainsRegex(
                          "^rank 1 waits in layer 3, hop 1, for rank 0 to (send|take) keys and values "));
}

TEST(SplitHeads, SaysHowManyRanksTheHeadsAreEnoughFor) {
    try {
        split_heads(3, 1, 4);
        FAIL() << "3 heads were divided among 4 ranks";
    } catch (const Error& error) {
        EXPECT_EQ(error.where, "ulysses_size");
        EXPECT_THAT(error.hint, ::testing::HasSubstr("at most 3"));
    }
}

TEST(SplitHeads, GivesEachRankWholeGroupsOrAPartOfOne) {
    for (const Heads& heads :
         {Heads{8, 8}, Heads{8, 2}, Heads{6, 3}, Heads{14, 2}, Heads{8, 1}, Heads{12, 4}}) {
        for (int ranks = 1; ranks <= heads.query; ++ranks) {
            int64_t next = 0;
            for (const OwnedHeads& owned : split_heads(heads.query, heads.key, ranks)) {
                EXPECT_EQ(owned.queries.begin, next);
                next += owned.queries.count;
                ASSERT_GT(owned.keys.count, 0);
                ASSERT_GT(owned.queries.count, 0);
                const int64_t group = heads.query / heads.key;
                EXPECT_EQ(owned.queries.count % owned.keys.count, 0);
                for (int64_t i = 0; i < owned.queries.count; ++i) {
                    EXPECT_EQ((owned.queries.begin + i) / group,
                              owned.keys.begin + i / (owned.queries.count / owned.keys.count));
                }
            }
            EXPECT_EQ(next, heads.query);
        }
    }
}

}  // namespace
}  // namespace ringmaster
