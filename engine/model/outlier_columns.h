/// Finds which input columns of a layer's matrices hold outliers (engine/model/int8_product.h). The search
/// covers the micro-batch on all ranks that share its tokens, so that results do not depend on the mesh or on
/// tiles. Padding tokens do not count, because their number depends on the mesh.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>

#include "engine/blocks/sites.h"

namespace ringmaster {

class OutlierColumns {
  public:
    /// The columns of each site's input: bool [C]; undefined if not yet known.
    using Sites = std::array<at::Tensor, kLoraSites>;
    /// Sets each element (uint8) to its largest value over all ranks that share the micro-batch.
    using Share = std::function<void(at::Tensor values)>;

    /// Begins a micro-batch. `places_n` (int64) holds −1 for padding; if it is undefined, all tokens count.
    void begin_tokens(const at::Tensor& places_n, double threshold, Share share);
    /// Begins a layer. `known` are the columns found in its forward, so that a backward pass need not search
    /// again.
    void enter_layer(Sites known = {}) { found_ = std::move(known); }

    bool knows(LoraSite site) const { return found_[static_cast<size_t>(site)].defined(); }
    const at::Tensor& of(LoraSite site) const { return found_[static_cast<size_t>(site)]; }
    const Sites& sites() const { return found_; }
    const at::Tensor& counted() const { return counted_n_; }  ///< bool [N], or undefined

    /// Searches some tokens of a site's input; x_nc holds the tokens from `first` on.
    void look(const at::Tensor& x_nc, int64_t first = 0);
    /// Sets the site's columns to those that `look` found on any rank. All ranks that share the micro-batch
    /// take part, including those without tokens, whose input has `width` columns.
    void settle(LoraSite site, int64_t width, at::Device device);

  private:
    at::Tensor counted_n_;
    double threshold_ = 0;
    Share share_;
    Sites found_;
    at::Tensor looking_c_;  ///< columns found since the last settle()
};

}  // namespace ringmaster
