// Tests the calls that Groups makes to NCCL through c10d, with a twin that needs no GPU. The twin imitates
// the difficult parts of ProcessGroupNCCL in LibTorch 2.11: ranks wait for each other while they connect; an
// all-to-all also sends and receives its empty messages; messages between two ranks are paired in their
// order; the allocator frees a sent tensor late if it knows of the send; and the destructor abandons
// transfers.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <tuple>

#include "engine/comm/backends.h"
#include "engine/layout/mesh_groups.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

/// Holds what the ranks of this process share.
struct Wires {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, int> connected;  ///< number of ranks by group
    std::map<std::tuple<std::string, int, int>, std::deque<at::Tensor>>
        under_way;  ///< tensors by group, sender and receiver
    int given_up = 0, shut_down = 0;
    int marked = 0;  ///< sent and received tensors that the allocator frees late

    template <typename Condition>
    void wait(Condition&& condition, const std::string& what) {
        std::unique_lock lock(mutex);
        if (!changed.wait_for(lock, kPatience, condition)) throw std::runtime_error("hangs: " + what);
    }
};

struct TwinWork final : c10d::Work {
    explicit TwinWork(std::function<void()> receive_) : receive(std::move(receive_)) {}
    bool wait(std::chrono::milliseconds) override {
        receive();
        return true;
    }
    std::function<void()> receive;
};

class NcclTwin final : public c10d::Backend {
  public:
    NcclTwin(Wires& wires, const BackendRequest& request)
        : Backend(request.rank, static_cast<int>(request.global_ranks.size())),
          wires_(wires),
          group_(request.name + std::to_string(request.global_ranks[0])) {}

    ~NcclTwin() override {
        std::lock_guard lock(wires_.mutex);
        ++(is_shut_down_ ? wires_.shut_down : wires_.given_up);
    }

    const std::string getBackendName() const override { return "nccl's twin"; }
    bool supportsCoalescing() const override { return true; }
    void shutdown() override { is_shut_down_ = true; }

    void eagerConnectSingleDevice(at::Device) override {
        if (std::exchange(is_connected_, true)) return;
        {
            std::lock_guard lock(wires_.mutex);
            ++wires_.connected[group_];
            wires_.changed.notify_all();
        }
        wires_.wait([&] { return wires_.connected[group_] == getSize(); },
                    "not every rank of " + group_ + " connects");
    }

    void startCoalescing() override {
        TORCH_CHECK(!coalesced_, "a group of calls within another");
        coalesced_.emplace();
    }

    c10::intrusive_ptr<c10d::Work> endCoalescing() override {
        return c10::make_intrusive<TwinWork>([all = std::move(*std::exchange(coalesced_, std::nullopt))] {
            for (const auto& receive : all) receive();
        });
    }

    c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& recv, at::Tensor& send,
                                                 std::vector<int64_t>& recv_counts,
                                                 std::vector<int64_t>& send_counts,
                                                 const c10d::AllToAllOptions&) override {
        c10d::checkSplitSizes(recv_counts, recv, getSize());
        c10d::checkSplitSizes(send_counts, send, getSize());
        TORCH_CHECK(recv.scalar_type() == send.scalar_type(), "two types in one call");
        eagerConnectSingleDevice(at::kCPU);
        post(send, send_counts);
        const auto receive = [this, recv, recv_counts] { take(recv, recv_counts); };
        if (!coalesced_) return c10::make_intrusive<TwinWork>(receive);
        coalesced_->push_back(receive);
        return nullptr;
    }

    c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int to, int) override {
        check_coalesced(tensors);
        post(tensors[0], to);
        return nullptr;
    }

    c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int from, int) override {
        check_coalesced(tensors);
        coalesced_->push_back([this, tensor = tensors[0], from] { take(tensor, from); });
        return nullptr;
    }

  private:
    void check_coalesced(const std::vector<at::Tensor>& tensors) {
        TORCH_CHECK(tensors.size() == 1 && tensors[0].is_contiguous(), "not one contiguous tensor");
        TORCH_CHECK(coalesced_, "NCCL hangs on a send and a receive that are not one call");
        eagerConnectSingleDevice(at::kCPU);
        std::lock_guard lock(wires_.mutex);
        wires_.marked +=
            tensors[0].storage().data_ptr().get_deleter() == c10::GetAllocator(at::kCPU)->raw_deleter();
    }

    void post(const at::Tensor& tensor, int to) {
        std::lock_guard lock(wires_.mutex);
        wires_.under_way[{group_, getRank(), to}].push_back(tensor.clone());
        wires_.changed.notify_all();
    }
    void post(const at::Tensor& send, const std::vector<int64_t>& counts) {
        int64_t at = 0;
        for (int to = 0; to < getSize(); ++to) {
            const int64_t count = counts[static_cast<size_t>(to)];
            post(send.narrow(0, at, count), to);
            at += count;
        }
    }

    void take(const at::Tensor& tensor, int from) {
        std::deque<at::Tensor>* came = nullptr;
        {
            std::lock_guard lock(wires_.mutex);
            came = &wires_.under_way[{group_, from, getRank()}];
        }
        wires_.wait([&] { return !came->empty(); }, "a receive without its send");
        std::lock_guard lock(wires_.mutex);
        TORCH_CHECK(came->front().nbytes() == tensor.nbytes(), "hangs: a message of ", came->front().nbytes(),
                    " bytes for one of ", tensor.nbytes());
        tensor.copy_(came->front());
        came->pop_front();
    }
    void take(const at::Tensor& recv, const std::vector<int64_t>& counts) {
        int64_t at = 0;
        for (int from = 0; from < getSize(); ++from) {
            const int64_t count = counts[static_cast<size_t>(from)];
            take(recv.narrow(0, at, count), from);
            at += count;
        }
    }

    Wires& wires_;
    std::string group_;
    bool is_connected_ = false, is_shut_down_ = false;
    std::optional<std::vector<std::function<void()>>> coalesced_;
};

/// Runs ranks as threads whose groups use the twin.
void run_over_twin(Wires& wires, const Mesh& mesh, const std::function<void(int, Groups&)>& body,
                   bool shards_states = true) {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    const BackendMaker make = [&](const BackendRequest& request,
                                  at::Device) -> c10::intrusive_ptr<c10d::Backend> {
        return c10::make_intrusive<NcclTwin>(wires, request);
    };
    GroupOptions options = options_of_ranks();
    options.shards_states = shards_states;
    FirstFailure failure;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < mesh.ranks(); ++rank) {
        threads.emplace_back([&, rank] {
            try {
                Groups groups = make_groups_over(make, store, rank, mesh, options);
                body(rank, groups);
            } catch (...) {
                failure.note(rank, std::current_exception());
            }
        });
    }
    for (auto& thread : threads) thread.join();
    failure.rethrow();
}

class OverNcclsTwin : public ::testing::TestWithParam<int> {};

TEST_P(OverNcclsTwin, TensorsGoAroundTheRing) {
    Wires wires;
    const int size = GetParam();
    run_over_twin(wires, ring_mesh(size), [&](int rank, Groups& groups) {
        const int previous = (rank + size - 1) % size;
        const auto own = [&](int of) { return at::arange(6, at::kFloat).view({2, 3}) + 10 * of; };
        const at::Tensor first = at::empty({2, 3}), second = at::empty({5}, at::kBFloat16);
        groups.ring()
            .exchange({own(rank), at::full({5}, rank + 0.5, at::kBFloat16)}, (rank + 1) % size,
                      {first, second}, previous)
            .wait();
        EXPECT_TRUE(at::equal(first, own(previous)));
        EXPECT_TRUE(at::equal(second, at::full({5}, previous + 0.5, at::kBFloat16)));
    });
    EXPECT_EQ(wires.marked, 0);
    for (const auto& [between, tensors] : wires.under_way)
        EXPECT_TRUE(tensors.empty()) << "a send without its receive";
}

at::Tensor filled(int64_t count, int value) {
    return at::full({count}, value, at::kFloat);
}

// Each rank sends to the ranks after it and receives from those before it, as in a causal ring.
TEST_P(OverNcclsTwin, RanksExchangeAsManyTensorsAsTheyHave) {
    Wires wires;
    const int size = GetParam();
    run_over_twin(wires, ring_mesh(size), [&](int rank, Groups& groups) {
        for (int distance = 1; distance < size; ++distance) {
            std::vector<at::Tensor> send, receive;
            if (rank + distance < size) send = {filled(4, rank), filled(rank + 1, rank)};
            if (rank >= distance) receive = {at::empty({4}), at::empty({rank - distance + 1})};
            groups.ring()
                .exchange(send, (rank + distance) % size, receive, (rank + size - distance) % size)
                .wait();
            for (const at::Tensor& tensor : receive)
                EXPECT_TRUE(at::equal(tensor, filled(tensor.numel(), rank - distance)));
        }
    });
}

TEST_P(OverNcclsTwin, AnAllToAllTakesRanksWithoutAnything) {
    Wires wires;
    const int size = GetParam();
    run_over_twin(wires, ring_mesh(size), [&](int rank, Groups& groups) {
        std::vector<int64_t> sent, received;  // rank r sends r elements to each
        for (int other = 0; other < size; ++other) sent.push_back(rank), received.push_back(other);
        const at::Tensor came = at::empty({size * (size - 1) / 2});
        groups.ring().all_to_all(came, filled(size * rank, rank), received, sent).wait();
        int64_t at = 0;
        for (int other = 0; other < size; at += other++)
            EXPECT_TRUE(at::equal(came.narrow(0, at, other), filled(other, other)));
    });
}

TEST_P(OverNcclsTwin, ARankThatTransfersNothingHoldsUpNobody) {
    Wires wires;
    const int size = GetParam();
    run_over_twin(wires, ring_mesh(size), [&](int rank, Groups& groups) {
        const at::Tensor came = at::zeros({3});
        std::vector<at::Tensor> send, receive;
        if (rank == 0) send.push_back(at::full({3}, 7.0));
        if (rank == 1) receive.push_back(came);
        groups.ring().exchange(send, 1, receive, 0).wait();
        EXPECT_EQ(came.sum().item<float>(), rank == 1 ? 21.0F : 0.0F);
    });
}

INSTANTIATE_TEST_SUITE_P(OfRanks, OverNcclsTwin, ::testing::Values(2, 3, 4),
                         ::testing::PrintToStringParamName());

// The planner counts the memory of these connections (engine/plan/memory/nccl_memory.h).
TEST(NcclGroups, ConnectAsThePlanCounts) {
    const std::map<MeshGroup, std::string> names = {
        {MeshGroup::World, "world"},       {MeshGroup::Ring, "ring"},
        {MeshGroup::Ulysses, "ulysses"},   {MeshGroup::Shard, "shard"},
        {MeshGroup::Replicas, "replicas"}, {MeshGroup::ExpertPart, "expert_part"},
        {MeshGroup::Experts, "experts"}};
    for (const Mesh& mesh :
         {Mesh{1, 1, 3, 1}, {2, 1, 2, 1}, {1, 2, 1, 2}, {2, 2, 1, 1}, {2, 2, 1, 2, 2}, {1, 4, 1, 1, 4}}) {
        for (const bool shards : {false, true}) {
            Wires wires;
            run_over_twin(
                wires, mesh, [](int, Groups&) {}, shards);
            std::map<std::string, int> counted;
            for (const auto& [group, name] : names) {
                for (int rank = 0; has_connections(group, mesh, shards) && rank < mesh.ranks(); ++rank)
                    ++counted[name + std::to_string(ranks_of(group, rank, mesh)[0])];
            }
            EXPECT_EQ(wires.connected, counted);
        }
    }
}

TEST(NcclGroups, AreShutDownAtACleanEnd) {
    Wires wires;
    run_over_twin(wires, ring_mesh(2), [](int, Groups&) {});
    EXPECT_EQ(wires.shut_down, 4) << "world and ring of two ranks";
    EXPECT_EQ(wires.given_up, 0);
}

TEST(NcclGroups, AreGivenUpAfterAFailure) {
    Wires wires;
    EXPECT_THROW(
        run_over_twin(wires, ring_mesh(2),
                      [](int, Groups&) { throw Error(Failure::Refused, Code("DISK-FULL"), "full disk"); }),
        Error);
    EXPECT_EQ(wires.shut_down, 0) << "it would wait for transfers that nobody ends";
    EXPECT_EQ(wires.given_up, 4);
}

TEST(NcclGroups, AreGivenUpAfterATransferThatFailed) {
    Wires wires;
    run_over_twin(wires, ring_mesh(2), [](int rank, Groups& groups) {
        if (rank == 1) return;
        const at::Tensor never = at::empty({3});
        EXPECT_THROW(groups.ring().exchange({}, 1, {never}, 1).wait(), Error);
    });
    EXPECT_EQ(wires.given_up, 2) << "both groups of rank 0";
    EXPECT_EQ(wires.shut_down, 2);
}

}  // namespace
}  // namespace ringmaster
