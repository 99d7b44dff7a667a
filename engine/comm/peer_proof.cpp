#include "engine/comm/peer_proof.h"

#include <ATen/ATen.h>

#include <cstring>

#include "engine/auth/sha256.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr int64_t kNonceBytes = 16;

at::Tensor tensor_of(std::string_view bytes) {
    at::Tensor tensor = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
    std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
    return tensor;
}

std::string_view bytes_in(const at::Tensor& tensor) {
    return {static_cast<const char*>(tensor.const_data_ptr()), static_cast<size_t>(tensor.numel())};
}

/// Sends `out[i]` to each peer i and returns what each peer sent; this rank's entry stays empty.
std::vector<at::Tensor> exchanged(c10d::Backend& backend, int rank, const std::vector<std::string>& out,
                                  int tag) {
    std::vector<at::Tensor> in(out.size());
    std::vector<std::vector<at::Tensor>> kept;
    std::vector<c10::intrusive_ptr<c10d::Work>> works;
    for (int peer = 0; peer < static_cast<int>(out.size()); ++peer) {
        if (peer == rank) continue;
        const std::string& bytes = out[static_cast<size_t>(peer)];
        at::Tensor& room = in[static_cast<size_t>(peer)];
        room = at::empty({static_cast<int64_t>(bytes.size())}, at::kByte);
        works.push_back(backend.recv(kept.emplace_back(1, room), peer, tag));
        works.push_back(backend.send(kept.emplace_back(1, tensor_of(bytes)), peer, tag));
    }
    for (const auto& work : works) work->wait();
    return in;
}

}  // namespace

void prove_peers(c10d::Backend& backend, const BackendRequest& request) {
    const size_t ranks = request.global_ranks.size();
    const std::string nonce = random_bytes(kNonceBytes);
    const std::vector<at::Tensor> nonces =
        exchanged(backend, request.rank, std::vector<std::string>(ranks, nonce), 0);
    const auto proof = [&](size_t from, size_t to, std::string_view of_from, std::string_view of_to) {
        return std::string(
            bytes_of(mac(request.key, {"peer", request.name, std::to_string(request.global_ranks[from]),
                                       std::to_string(request.global_ranks[to]), of_from, of_to})));
    };
    const auto self = static_cast<size_t>(request.rank);
    std::vector<std::string> own(ranks);
    for (size_t peer = 0; peer < ranks; ++peer) {
        if (peer != self) own[peer] = proof(self, peer, nonce, bytes_in(nonces[peer]));
    }
    const std::vector<at::Tensor> shown = exchanged(backend, request.rank, own, 1);
    for (size_t peer = 0; peer < ranks; ++peer) {
        if (peer == self || is_same(bytes_in(shown[peer]), proof(peer, self, bytes_in(nonces[peer]), nonce)))
            continue;
        throw Error(
            Failure::Refused, Code("RANKS-MEETING"),
            "what connected to rank " + std::to_string(request.global_ranks[self]) + " as rank " +
                std::to_string(request.global_ranks[peer]) + " (" + request.name +
                ") does not hold this run's token: another program reached a rank's port, or the ranks hold "
                "different tokens",
            {}, "every node needs the same DIR/token; keep strangers off the network between the nodes");
    }
}

}  // namespace ringmaster
