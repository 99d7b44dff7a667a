#include "engine/comm/groups.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <exception>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "engine/auth/sha256.h"
#include "engine/comm/backends.h"
#include "engine/comm/failure.h"
#include "engine/comm/meeting.h"
#include "engine/comm/transfer.h"
#include "engine/error.h"
#include "engine/layout/mesh_groups.h"

namespace ringmaster {

Error GroupContext::broken(const Awaited& awaited, const TransferFailure& failure) const {
    *is_broken = true;
    return Error(Failure::Refused, Code(failure.cause == cause::kMemory ? "ENGINE-MEMORY" : "RANKS-TRANSFER"),
                 "rank " + std::to_string(rank) + english(as_reason(awaited)) + ": " + failure.words, {}, {},
                 failure.cause);
}

// --- Transfer

Transfer::Transfer(std::shared_ptr<State> state)
    : state_(std::move(state)), exceptions_(std::uncaught_exceptions()) {}

Transfer& Transfer::operator=(Transfer&& other) noexcept {
    Transfer old(std::move(*this));  // the destructor waits if this transfer is not complete
    state_ = std::move(other.state_);
    then_ = std::move(other.then_);
    exceptions_ = other.exceptions_;
    return *this;
}

Transfer::~Transfer() {
    if (!state_ || std::uncaught_exceptions() > exceptions_) return;
    try {
        wait();
    } catch (const Error&) {
        // The caller drops the transfer and needs no error. If the group is broken, its next transfer throws.
    }
}

void Transfer::wait() {
    if (!state_) return;
    const auto state = std::exchange(state_, nullptr);
    state->wait();
    if (then_) std::exchange(then_, nullptr)();
}

// --- Group

struct Group::Impl {
    std::string name;
    int rank = 0;
    std::vector<int> global_ranks;
    std::shared_ptr<const GroupContext> context;
    int64_t posted = 0;                         // number of transfers posted
    std::unique_ptr<Watch> watch;               // null if the group has one rank
    c10::intrusive_ptr<c10d::Backend> backend;  // null if the group has one rank
    at::Device device = at::kCPU;
    std::shared_ptr<Impl> on_host;  // carries copies in host memory; if set, watch and backend are null

    Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        if (!watch) return;
        // A backend's destructor waits for its collectives. A collective that no peer answers would block
        // a rank that has failed.
        if (!watch->stop()) {
            backend.release();
            return;
        }
        // NCCL's shutdown waits for its transfers. A failed rank must drop them, as the destructor does.
        if (*context->is_broken || std::uncaught_exceptions() > 0) return;
        try {
            backend->shutdown();
        } catch (const std::exception&) {
            // The destructor drops the transfers that are left.
        }
    }

    int size() const { return static_cast<int>(global_ranks.size()); }
    std::string global(int group_rank) const {
        return "rank " + std::to_string(global_ranks[static_cast<size_t>(group_rank)]);
    }
    std::string who() const { return global(rank) + " (" + name + " " + std::to_string(rank) + ")"; }
    Partner one(Partner::Role role, int group_rank, const std::string& what) const {
        return {role, global_ranks[static_cast<size_t>(group_rank)], what};
    }
    Partner all(const std::string& what) const { return {Partner::Role::All, size(), what}; }

    template <typename Post>
    Transfer post(Partner partner, std::vector<at::Tensor> tensors, int64_t sent_bytes, Post&& post_works);
    c10::intrusive_ptr<c10d::Work> exchange_at_once(const std::vector<at::Tensor>& send, int to,
                                                    const std::vector<at::Tensor>& recv, int from);
};

/// Calls `post_works`, which appends to the operations and may change `partner`. If `post_works` throws,
/// throws an Error that names `partner`.
template <typename Post>
Transfer Group::Impl::post(Partner partner, std::vector<at::Tensor> tensors, int64_t sent_bytes,
                           Post&& post_works) {
    const auto state = watch->begin();
    state->tensors = std::move(tensors);
    state->place = context->progress->place();
    state->sequence = ++posted;
    try {
        post_works(state->operations, partner);
    } catch (...) {
        watch->failed(state);
        throw context->broken({state->place, partner, name, state->sequence},
                              failure_of(std::current_exception()));
    }
    context->meter->sent(sent_bytes);
    watch->posted(state);
    return Transfer(state);
}

namespace {

/// Returns a tensor's memory, flat, as a tensor that LibTorch's allocator does not own. c10d marks the
/// tensors of sends and receives as used by NCCL's stream, which delays the reuse of their memory; it does
/// not mark memory that the allocator does not own. The caller must keep the tensor until it has waited for
/// the transfer.
at::Tensor unmarked(const at::Tensor& x) {
    TORCH_INTERNAL_ASSERT(x.is_contiguous(), "a tensor in pieces is exchanged");
    return at::for_blob(x.data_ptr(), {x.numel()})
        .options(x.options())
        .target_device(x.device())
        .make_tensor();
}

}  // namespace

/// Posts sends and receives as one coalesced group, because NCCL hangs if they are posted one after the
/// other. An all-to-all with empty entries for the other ranks would not work: LibTorch sends the empty
/// messages too, and NCCL pairs each with the peer's next message, whatever its length.
c10::intrusive_ptr<c10d::Work> Group::Impl::exchange_at_once(const std::vector<at::Tensor>& send, int to,
                                                             const std::vector<at::Tensor>& recv, int from) {
    backend->startCoalescing();
    for (const at::Tensor& tensor : recv) {
        std::vector<at::Tensor> one{unmarked(tensor)};
        backend->recv(one, from, 0);
    }
    for (const at::Tensor& tensor : send) {
        std::vector<at::Tensor> one{unmarked(tensor)};
        backend->send(one, to, 0);
    }
    return backend->endCoalescing();
}

namespace {

/// Allocates host memory for a tensor's copy.
at::Tensor host_room(const at::Tensor& x) {
    return at::empty(x.sizes(), x.options().device(at::kCPU));
}
at::Tensor host_copy(const at::Tensor& x) {
    return host_room(x).copy_(x);
}

std::vector<at::Tensor> each(const std::vector<at::Tensor>& tensors, at::Tensor (*made)(const at::Tensor&)) {
    std::vector<at::Tensor> copies;
    for (const at::Tensor& tensor : tensors) copies.push_back(made(tensor));
    return copies;
}

}  // namespace

/// Copies received data from host memory to the transfer's tensors, when a caller waits for the transfer.
Transfer Group::brought_back(Transfer transfer, std::vector<at::Tensor> arrived, std::vector<at::Tensor> to) {
    transfer.then_ = [before = std::move(transfer.then_), arrived = std::move(arrived), to = std::move(to)] {
        if (before) before();
        for (size_t i = 0; i < to.size(); ++i) to[i].copy_(arrived[i]);
    };
    return transfer;
}

int Group::rank() const {
    return impl_->rank;
}
int Group::size() const {
    return impl_->size();
}

RankProgress& Group::progress() {
    return *impl_->context->progress;
}

Transfer Group::exchange(std::vector<at::Tensor> send, int to, std::vector<at::Tensor> recv, int from,
                         const std::string& what) {
    auto& group = *impl_;
    if (group.size() == 1) {
        for (size_t i = 0; i < recv.size(); ++i) recv[i].copy_(send[i]);
        return {};
    }
    if (group.on_host) {
        const std::vector<at::Tensor> arriving = each(recv, host_room);
        return brought_back(Group(group.on_host).exchange(each(send, host_copy), to, arriving, from, what),
                            arriving, recv);
    }
    if (send.empty() && recv.empty()) {
        ++group.posted;  // keeps the count equal to the other ranks' counts, which include this call
        return {};
    }
    int64_t bytes = 0;
    for (const auto& tensor : send) bytes += static_cast<int64_t>(tensor.nbytes());
    const Partner sender = group.one(Partner::Role::Sender, from, what);
    const Partner receiver = group.one(Partner::Role::Receiver, to, what);
    std::vector<at::Tensor> kept = send;
    kept.insert(kept.end(), recv.begin(), recv.end());
    const auto post_both = [&](std::vector<Operation>& works, Partner& partner) {
        if (group.backend->supportsCoalescing())
            return works.push_back({group.exchange_at_once(send, to, recv, from), sender});
        for (size_t i = 0; i < recv.size(); ++i) {
            std::vector<at::Tensor> one{recv[i]};
            works.push_back({group.backend->recv(one, from, static_cast<int>(i)), sender});
        }
        partner = receiver;
        for (size_t i = 0; i < send.size(); ++i) {
            std::vector<at::Tensor> one{send[i]};
            works.push_back({group.backend->send(one, to, static_cast<int>(i)), receiver});
        }
    };
    return group.post(sender, std::move(kept), bytes, post_both);
}

Transfer Group::all_reduce(at::Tensor tensor, Reduce op) {
    auto& group = *impl_;
    if (group.size() == 1) return {};
    if (group.on_host) {
        const at::Tensor copy = host_copy(tensor);
        return brought_back(Group(group.on_host).all_reduce(copy, op), {copy}, {tensor});
    }
    const int64_t bytes = static_cast<int64_t>(tensor.nbytes()) * 2 * (group.size() - 1) / group.size();
    const Partner partner = group.all("all-reduce");
    return group.post(partner, {tensor}, bytes, [&](std::vector<Operation>& works, const Partner&) {
        c10d::AllreduceOptions options;
        options.reduceOp = op == Reduce::Sum ? c10d::ReduceOp::SUM : c10d::ReduceOp::MAX;
        std::vector<at::Tensor> tensors{tensor};
        works.push_back({group.backend->allreduce(tensors, options), partner});
    });
}

Transfer Group::all_to_all(at::Tensor recv, at::Tensor send, const std::string& what) {
    const int64_t ranks = size();
    return all_to_all(recv.view({-1}), send.view({-1}), std::vector<int64_t>(ranks, recv.numel() / ranks),
                      std::vector<int64_t>(ranks, send.numel() / ranks), what);
}

Transfer Group::all_to_all(at::Tensor recv, at::Tensor send, std::vector<int64_t> recv_counts,
                           std::vector<int64_t> send_counts, const std::string& what) {
    auto& group = *impl_;
    if (group.size() == 1) {
        recv.copy_(send);
        return {};
    }
    if (group.on_host) {
        const at::Tensor arriving = host_room(recv);
        return brought_back(
            Group(group.on_host)
                .all_to_all(arriving, host_copy(send), std::move(recv_counts), std::move(send_counts), what),
            {arriving}, {recv});
    }
    const int64_t kept = send_counts[static_cast<size_t>(group.rank)];
    const int64_t bytes = (send.numel() - kept) * static_cast<int64_t>(send.element_size());
    const Partner partner = group.all(what);
    return group.post(partner, {recv, send}, bytes, [&](std::vector<Operation>& works, const Partner&) {
        works.push_back({group.backend->alltoall_base(recv, send, recv_counts, send_counts), partner});
    });
}

Transfer Group::broadcast(at::Tensor tensor, int root) {
    auto& group = *impl_;
    if (group.size() == 1) return {};
    if (group.on_host) {
        const at::Tensor copy = host_copy(tensor);
        return brought_back(Group(group.on_host).broadcast(copy, root), {copy}, {tensor});
    }
    const int64_t bytes = root == group.rank ? static_cast<int64_t>(tensor.nbytes()) * (group.size() - 1) : 0;
    const Partner partner = group.all("broadcast from " + group.global(root));
    return group.post(partner, {tensor}, bytes, [&](std::vector<Operation>& works, const Partner&) {
        c10d::BroadcastOptions options;
        options.rootRank = root;
        std::vector<at::Tensor> tensors{tensor};
        works.push_back({group.backend->broadcast(tensors, options), partner});
    });
}

Transfer Group::reduce_scatter(at::Tensor own, at::Tensor whole, const std::string& what) {
    auto& group = *impl_;
    if (group.size() == 1) {
        if (!own.is_alias_of(whole)) own.copy_(whole);
        return {};
    }
    if (group.on_host) {
        const at::Tensor arriving = host_room(own);
        return brought_back(Group(group.on_host).reduce_scatter(arriving, host_copy(whole), what), {arriving},
                            {own});
    }
    if (group.device.is_cpu()) {  // Gloo's reduce-scatter is an all-reduce of a copy, twice the traffic
        at::Tensor parts = at::empty_like(whole);
        Transfer transfer = all_to_all(parts, whole, what);
        transfer.then_ = [own, parts = parts.view({size(), -1})]() mutable { at::sum_out(own, parts, 0); };
        return transfer;
    }
    const int64_t bytes = static_cast<int64_t>(own.nbytes()) * (group.size() - 1);
    const Partner partner = group.all(what);
    return group.post(partner, {own, whole}, bytes, [&](std::vector<Operation>& works, const Partner&) {
        works.push_back({group.backend->_reduce_scatter_base(own, whole, {}), partner});
    });
}

Transfer Group::all_gather(at::Tensor whole, at::Tensor own, const std::string& what) {
    auto& group = *impl_;
    if (group.on_host) {
        const at::Tensor arriving = host_room(whole);
        return brought_back(Group(group.on_host).all_gather(arriving, host_copy(own), what), {arriving},
                            {whole});
    }
    const auto chunks = whole.view({size(), -1}).unbind();
    at::Tensor own_chunk = chunks[static_cast<size_t>(rank())];
    if (own.data_ptr() != own_chunk.data_ptr()) own_chunk.copy_(own);
    if (group.size() == 1) return {};
    const int64_t bytes = static_cast<int64_t>(own.nbytes()) * (group.size() - 1);
    const Partner partner = group.all(what);
    if (!group.device.is_cpu()) {
        return group.post(partner, {own, whole}, bytes, [&](std::vector<Operation>& works, const Partner&) {
            works.push_back({group.backend->_allgather_base(whole, own_chunk, {}), partner});
        });
    }
    // Receives straight into `whole`: Gloo's own all-gather gathers into a copy.
    return group.post(partner, {own, whole}, bytes, [&](std::vector<Operation>& works, Partner& waits_for) {
        for (int other = 0; other < group.size(); ++other) {
            if (other == group.rank) continue;
            std::vector<at::Tensor> chunk{chunks[static_cast<size_t>(other)]};
            waits_for = group.one(Partner::Role::Sender, other, what);
            works.push_back({group.backend->recv(chunk, other, 0), waits_for});
        }
        for (int other = 0; other < group.size(); ++other) {
            if (other == group.rank) continue;
            std::vector<at::Tensor> chunk{own_chunk};
            waits_for = group.one(Partner::Role::Receiver, other, what);
            works.push_back({group.backend->send(chunk, other, 0), waits_for});
        }
    });
}

void Group::barrier() {
    auto& group = *impl_;
    if (group.size() == 1) return;
    if (group.on_host) return Group(group.on_host).barrier();
    if (!group.device.is_cpu()) {
        const auto token = at::zeros({1}, at::TensorOptions().device(group.device));
        all_reduce(token).wait();
        token.item();  // this is the first call in which the host waits for the other ranks
        return;
    }
    const Partner partner = group.all("barrier");
    group
        .post(partner, {}, 0,
              [&](std::vector<Operation>& works, const Partner&) {
                  works.push_back({group.backend->barrier(), partner});
              })
        .wait();
}

// --- Groups

struct Groups::Impl {
    int rank = 0;
    Mesh mesh;
    at::Device device = at::kCPU;
    std::shared_ptr<Meter> meter = std::make_shared<Meter>();
    std::shared_ptr<RankProgress> progress;
    std::shared_ptr<std::atomic<std::chrono::milliseconds>> timeout;
    std::shared_ptr<std::atomic<bool>> is_broken = std::make_shared<std::atomic<bool>>(false);
    std::vector<std::shared_ptr<Group::Impl>> impls;
    std::vector<Group> groups;  // in the order of kMeshGroups
};

namespace {

size_t index_of(MeshGroup kind) {
    return static_cast<size_t>(kind);
}

c10::intrusive_ptr<c10d::Backend> make_gloo_or_nccl(const BackendRequest& request, at::Device device) {
    if (!device.is_cpu()) return make_nccl_backend(request);
    auto backend = make_gloo_backend(request);
    backend->setTimeout(kEndless);
    return backend;
}

c10::intrusive_ptr<c10d::Backend> make_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                               const Group::Impl& group, const GroupOptions& options,
                                               const BackendMaker& make) {
    BackendRequest request;
    // Groups of the same name have different first ranks, so each group gets its own prefix.
    const std::string prefix = group.name + "/" + std::to_string(group.global_ranks.front());
    request.store = c10::make_intrusive<c10d::PrefixStore>(prefix, store);
    request.name = group.name;
    request.key = options.key;
    request.rank = group.rank;
    request.global_ranks = group.global_ranks;
    request.timeout = options.timeout;
    request.meeting_timeout = options.meeting_timeout;
    request.interface_address = options.interface_address.empty() ? "127.0.0.1" : options.interface_address;
    request.device_index = options.device_index;
    try {
        auto backend = make(request, group.device);
        // NCCL's ranks wait for each other while they connect, so each connects now, even if it transfers
        // nothing at first.
        backend->eagerConnectSingleDevice(group.device);
        return backend;
    } catch (const Error&) {
        throw;
    } catch (const std::exception&) {
        const TransferFailure failure = failure_of(std::current_exception());
        throw Error(Failure::Unreachable, Code("RANKS-TRANSFER"),
                    "cannot connect to the other ranks of " + group.name + ": " + failure.words, group.who(),
                    {}, failure.cause);
    }
}

std::shared_ptr<Group::Impl> make_group(const c10::intrusive_ptr<c10d::Store>& store,
                                        const Groups::Impl& groups, MeshGroup kind,
                                        const GroupOptions& options, const BackendMaker& make) {
    static constexpr const char* kNames[] = {"world",    "ring",        "ulysses", "shard",
                                             "replicas", "expert_part", "experts"};
    auto group = std::make_shared<Group::Impl>();
    group->name = kNames[index_of(kind)];
    group->global_ranks = ranks_of(kind, groups.rank, groups.mesh);
    group->rank =
        static_cast<int>(std::find(group->global_ranks.begin(), group->global_ranks.end(), groups.rank) -
                         group->global_ranks.begin());
    group->context = std::make_shared<GroupContext>(GroupContext{
        group->name, groups.rank, groups.meter, groups.progress, groups.timeout, groups.is_broken});
    group->device = options.through_host ? at::Device(at::kCPU) : groups.device;
    if (group->size() == 1) return group;
    group->backend = make_backend(store, *group, options, make);
    group->watch = group->device.is_cpu() ? watch_on_host(group->context)
                                          : watch_on_device(group->context, group->device);
    if (!options.through_host) return group;
    auto copying = std::make_shared<Group::Impl>();
    copying->name = group->name;
    copying->global_ranks = group->global_ranks;
    copying->rank = group->rank;
    copying->context = group->context;
    copying->device = groups.device;
    copying->on_host = std::move(group);
    return copying;
}

}  // namespace

Groups::Groups(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

int Groups::rank() const {
    return impl_->rank;
}
const Mesh& Groups::mesh() const {
    return impl_->mesh;
}
at::Device Groups::device() const {
    return impl_->device;
}
Group& Groups::world() {
    return impl_->groups[index_of(MeshGroup::World)];
}
Group& Groups::ring() {
    return impl_->groups[index_of(MeshGroup::Ring)];
}
Group& Groups::ulysses() {
    return impl_->groups[index_of(MeshGroup::Ulysses)];
}

Group& Groups::shard() {
    return impl_->groups.at(index_of(MeshGroup::Shard));
}
Group& Groups::replicas() {
    return impl_->groups.at(index_of(MeshGroup::Replicas));
}

Group& Groups::expert_part() {
    return impl_->groups.at(index_of(MeshGroup::ExpertPart));
}
Group& Groups::experts() {
    return impl_->groups.at(index_of(MeshGroup::Experts));
}

RankProgress& Groups::progress() {
    return *impl_->progress;
}

void Groups::set_timeout(std::chrono::milliseconds timeout) {
    *impl_->timeout = timeout;
    if (impl_->device.is_cpu()) return;
    for (const auto& group : impl_->impls) {
        if (group->backend) group->backend->setTimeout(timeout);
    }
}

CommTotals Groups::take_totals() {
    for (const auto& group : impl_->impls) {
        if (group->watch) group->watch->collect();
    }
    return impl_->meter->take(Meter::Clock::now());
}

Groups make_groups(const c10::intrusive_ptr<c10d::Store>& store, int rank, const Mesh& mesh,
                   const GroupOptions& options) {
    return make_groups_over(make_gloo_or_nccl, store, rank, mesh, options);
}

Groups make_groups_over(const BackendMaker& make, const c10::intrusive_ptr<c10d::Store>& store, int rank,
                        const Mesh& mesh, const GroupOptions& options) {
    auto impl = std::make_shared<Groups::Impl>();
    impl->rank = rank;
    impl->mesh = mesh;
    impl->progress = options.progress ? options.progress : std::make_shared<RankProgress>();
    impl->progress->set_hops(mesh.ring > 1);
    impl->timeout = std::make_shared<std::atomic<std::chrono::milliseconds>>(options.timeout);
    if (options.device == Device::Cuda) {
        load_cuda(options.device_index);
        impl->device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(options.device_index));
        c10::impl::VirtualGuardImpl(at::kCUDA).setDevice(impl->device);
    }
    for (const MeshGroup kind : kMeshGroups) {
        if (kind == MeshGroup::Shard && !options.shards_states) break;
        if (kind == MeshGroup::ExpertPart && mesh.expert == 1) break;
        const bool is_world = kind == MeshGroup::Shard && mesh.dp_replicate == 1;
        impl->impls.push_back(is_world ? impl->impls[index_of(MeshGroup::World)]
                                       : make_group(store, *impl, kind, options, make));
        impl->groups.emplace_back(impl->impls.back());
    }
    return Groups(std::move(impl));
}

Groups connect(const Rendezvous& rendezvous, const Mesh& mesh, const GroupOptions& options) {
    if (mesh.ranks() != rendezvous.world_size) {
        throw Error(Failure::Usage, Code("RANKS-ENVIRONMENT"),
                    std::to_string(rendezvous.world_size) + " ranks were started, the plan is for " +
                        std::to_string(mesh.ranks()));
    }
    GroupOptions own = options;
    own.device_index = rendezvous.local_rank;
    if (own.device == Device::Cuda) {  // a failure here comes before the other ranks wait for this one
        load_cuda(own.through_host ? 0 : own.device_index);
        if (own.through_host) own.device_index %= cuda_devices();
    }
    if (rendezvous.world_size == 1)
        return make_groups(c10::intrusive_ptr<c10d::Store>(), rendezvous.rank, mesh, own);
    if (own.interface_address.empty()) own.interface_address = interface_address(rendezvous);
    own.key = bytes_of(mac(rendezvous.secret, {"connections of ranks", rendezvous.key_prefix}));
    const Meeting meeting = meet(rendezvous, own.meeting_timeout);
    Groups groups = make_groups(meeting.store, rendezvous.rank, mesh, own);
    if (own.device == Device::Cuda && !own.through_host)
        return groups;  // the store stays open because NCCL's threads keep asking it
    groups.world().barrier();
    meeting.sealed->close();
    groups.take_totals();
    return groups;
}

}  // namespace ringmaster
