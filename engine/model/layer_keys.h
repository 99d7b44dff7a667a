/// Holds a layer's keys, values and sums of gradients for the chunks of a sequence, on the device or in host
/// memory (host_stash.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/held_keys.h"
#include "engine/model/host_stash.h"

namespace ringmaster {

class LayerKeys final : public HeldKeys {
  public:
    /// Without a stash, tensors stay on the device: copies of keys and values, or views of what the layer
    /// keeps anyway.
    LayerKeys(size_t chunks, bool copies, HostStash* stash)
        : copies_(copies), stash_(stash), chunks_(chunks) {}

    /// Keeps a chunk's keys and values for later chunks; those of the last chunk are not needed.
    void put(size_t chunk, const KeysValues& keys);
    bool has(size_t chunk) const { return chunks_[chunk].is_put; }

    void fetch(size_t chunk, bool with_sums) override;
    KeysValues keys(size_t chunk) override;
    KeysValues take_sums(size_t chunk) override;
    void put_sums(size_t chunk, KeysValues sums) override;

  private:
    struct Chunk {
        bool is_put = false, has_sums = false;
        KeysValues keys, sums;  ///< kept on the device
    };
    enum Kind { Both, KeySums, ValueSums, Kinds };
    static size_t place(size_t chunk, Kind kind) { return chunk * Kinds + kind; }

    bool copies_;
    HostStash* stash_;
    std::vector<Chunk> chunks_;
};

}  // namespace ringmaster
