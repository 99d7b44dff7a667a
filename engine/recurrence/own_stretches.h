/// Cuts a rank's stretches (engine/layout/stretches.h) into chunks, and makes the tables that bring tokens
/// into chunks and back. The tables include the tokens before a stretch, which a short convolution also
/// reads.
///
/// Letters: T this rank's tokens of a row, P positions in chunks (each stretch is filled up to whole chunks),
/// S sources (tokens, then the tokens before each stretch), J taps of the convolution.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/comm/groups.h"
#include "engine/layout/stretches.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

using pieces::kChunkTokens;

/// Describes one of this rank's stretches, and which of this rank's chunks it fills.
struct OwnStretch {
    size_t index = 0;  ///< the stretch's index in Stretches::all
    int64_t first_chunk = 0, end_chunk = 0;
};

struct OwnStretches {
    OwnStretches(const Stretches& all, int rank, int64_t tokens, int64_t taps, at::Device device);

    const Stretch& at(const OwnStretch& one) const { return stretches.all[one.index]; }
    int64_t positions() const { return chunks * kChunkTokens; }
    int64_t sources() const { return tokens + received * (taps - 1); }

    Stretches stretches;
    int64_t tokens = 0, taps = 0, chunks = 0;
    int64_t received = 0;  ///< number of this rank's stretches that continue a document
    std::vector<OwnStretch> own;
    at::Tensor sources_jp;   ///< [J, P] index of the source that each tap reads; S if the tap reads nothing
    at::Tensor targets_js;   ///< [J, S] position that reads a source by a tap; P if no position does
    at::Tensor tokens_p;     ///< [P] token at each position; T if the position has none
    at::Tensor positions_t;  ///< [T] position of each token; P if the token is padding
    /// [most_sent · (J − 1)] the last tokens of each stretch whose document continues in another stretch; T
    /// if none.
    at::Tensor tails_r;
    /// [received · (J − 1)] rows of all ranks' joined tails that hold the tokens before each of this rank's
    /// stretches that continues a document. For a place before the document, the index is one past the last
    /// row.
    at::Tensor before_r;
    /// Pair i: token tail_tokens_m[i] of this rank gets the gradient in row tail_rows_m[i] of all ranks'
    /// joined gradients.
    at::Tensor tail_tokens_m, tail_rows_m;
};

/// Appends a row of zeros. Tables refer to that row if there is nothing to read.
at::Tensor with_zero_row(const at::Tensor& x_br);

/// Returns the convolution's inputs before each of this rank's stretches, [B, received · (J − 1), C].
/// `tails_brc` has the last inputs of the stretches that other stretches continue (tails_r of x). All ranks
/// take part.
at::Tensor tokens_before(Groups& groups, const OwnStretches& stretches, const at::Tensor& tails_brc);
/// Returns the gradients, [B, M, C], of the tokens tail_tokens_m that other stretches read; undefined if
/// there are none. All ranks take part.
at::Tensor gradients_of_tails(Groups& groups, const OwnStretches& stretches, const at::Tensor& dbefore_brc);

/// Convolves sources, [B, S + 1, C] with zeros last, by taps_cj: returns [B, P, C], by positions.
at::Tensor convolution_of(const OwnStretches& stretches, const at::Tensor& sources_bsc,
                          const at::Tensor& taps_cj);
/// Returns the gradient of the sources, [B, S, C], given that of convolution_of, with a row of zeros after
/// it. Writes the gradient of the taps to dtaps_cj.
at::Tensor sources_gradient(const OwnStretches& stretches, const at::Tensor& dmixed_bpc,
                            const at::Tensor& sources_bsc, const at::Tensor& taps_cj,
                            const at::Tensor& dtaps_cj);

/// Joins the equal parts of all context-parallel ranks, in their order: [ranks, …].
at::Tensor gather_of_context(Groups& groups, const at::Tensor& own, const char* what);

}  // namespace ringmaster
