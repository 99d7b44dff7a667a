#include "engine/comm/groups.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <thread>

#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

Mesh mesh_of(int dp_replicate, int dp_shard, int ring, int ulysses) {
    Mesh mesh;
    mesh.dp_replicate = dp_replicate;
    mesh.dp_shard = dp_shard;
    mesh.ring = ring;
    mesh.ulysses = ulysses;
    return mesh;
}

at::Tensor filled(double value, int64_t size = 4) {
    return at::full({size}, value, at::kFloat);
}

struct How {
    int size;
    bool through_host = false;
};

class Ranks : public ::testing::TestWithParam<How> {
  protected:
    int size() const { return GetParam().size; }
    void run(const std::function<void(int, Groups&)>& body) const {
        GroupOptions options = options_of_ranks();
        options.through_host = GetParam().through_host;
        run_ranks(ring_mesh(size()), options, body);
    }
};

TEST_P(Ranks, PassTensorsAroundTheRing) {
    const int size = this->size();
    run([&](int rank, Groups& groups) {
        Group& ring = groups.ring();
        ASSERT_EQ(ring.rank(), rank);
        ASSERT_EQ(ring.size(), size);
        const int previous = (rank + size - 1) % size;
        const at::Tensor first = at::empty({4}, at::kFloat);
        const at::Tensor second = at::empty({2, 3}, at::kBFloat16);
        ring.exchange({filled(rank), at::full({2, 3}, rank + 0.5, at::kBFloat16)}, (rank + 1) % size,
                      {first, second}, previous)
            .wait();
        EXPECT_TRUE(at::equal(first, filled(previous)));
        EXPECT_TRUE(at::equal(second, at::full({2, 3}, previous + 0.5, at::kBFloat16)));
    });
}

TEST_P(Ranks, ReduceBroadcastAndSwapChunks) {
    const int size = this->size();
    run([&](int rank, Groups& groups) {
        Group& world = groups.world();
        const at::Tensor sum = filled(rank + 1);
        const at::Tensor max = filled(rank + 1);
        Transfer summing = world.all_reduce(sum);
        Transfer maximum = world.all_reduce(max, Reduce::Max);
        summing.wait();
        maximum.wait();
        EXPECT_TRUE(at::equal(sum, filled(size * (size + 1) / 2)));
        EXPECT_TRUE(at::equal(max, filled(size)));

        const at::Tensor from_last = filled(rank);
        world.broadcast(from_last, size - 1).wait();
        EXPECT_TRUE(at::equal(from_last, filled(size - 1)));

        const at::Tensor sent = at::arange(size, at::kLong) + 100 * rank;
        const at::Tensor received = at::empty({size}, at::kLong);
        world.all_to_all(received, sent).wait();
        EXPECT_TRUE(at::equal(received, at::arange(size, at::kLong) * 100 + rank));
        world.barrier();
    });
}

TEST_P(Ranks, ScatterSumsAndGatherThemAgain) {
    const int size = this->size();
    run([&](int rank, Groups& groups) {
        Group& world = groups.world();
        groups.take_totals();
        const at::Tensor whole = at::arange(4 * size, at::kFloat) + rank;
        const at::Tensor own = at::empty({4}, at::kFloat);
        world.reduce_scatter(own, whole, "gradients").wait();
        const at::Tensor sum = at::arange(4 * size, at::kFloat) * size + size * (size - 1) / 2;
        EXPECT_TRUE(at::equal(own, sum.narrow(0, 4 * rank, 4)));
        EXPECT_EQ(groups.take_totals().sent_bytes, 16 * (size - 1));

        const at::Tensor all = at::empty({4 * size}, at::kFloat);
        const at::Tensor in_place = at::zeros({2 * size}, at::kBFloat16);
        in_place.narrow(0, 2 * rank, 2).fill_(rank);
        Transfer first = world.all_gather(all, own, "weights");
        Transfer second = world.all_gather(in_place, in_place.narrow(0, 2 * rank, 2));
        first.wait();
        second.wait();
        EXPECT_TRUE(at::equal(all, sum));
        EXPECT_TRUE(at::equal(in_place, at::arange(size, at::kBFloat16).repeat_interleave(2)));
        EXPECT_EQ(groups.take_totals().sent_bytes, (16 + 4) * (size - 1));
        world.reduce_scatter(whole.narrow(0, 4 * rank, 4), whole).wait();
        EXPECT_TRUE(at::equal(whole.narrow(0, 4 * rank, 4), own));
    });
}

TEST(Groups, ShareStatesWithinAReplica) {
    const Mesh mesh = mesh_of(2, 1, 2, 1);
    run_ranks(mesh, [&](int rank, Groups& groups) {
        EXPECT_EQ(groups.shard().size(), 2);
        EXPECT_EQ(groups.replicas().size(), 2);
        const at::Tensor of_shard = filled(rank), of_replicas = filled(rank);
        groups.shard().all_reduce(of_shard).wait();
        groups.replicas().all_reduce(of_replicas).wait();
        EXPECT_TRUE(at::equal(of_shard, filled(rank < 2 ? 1 : 5)));
        EXPECT_TRUE(at::equal(of_replicas, filled(rank % 2 == 0 ? 2 : 4)));
    });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Ranks,
                         ::testing::Values(How{1}, How{2}, How{3}, How{4}, How{8}, How{1, true}, How{2, true},
                                           How{3, true}),
                         [](const auto& tested) {
                             return "Of" + std::to_string(tested.param.size) +
                                    (tested.param.through_host ? "ThroughHost" : "");
                         });

TEST(Groups, FollowTheMesh) {
    const Mesh mesh = mesh_of(1, 2, 2, 2);
    run_ranks(mesh, [&](int rank, Groups& groups) {
        EXPECT_EQ(groups.rank(), rank);
        const MeshCoordinates at = mesh.coordinates(rank);
        EXPECT_EQ(groups.ring().rank(), at.ring);
        EXPECT_EQ(groups.ulysses().rank(), at.ulysses);
        EXPECT_EQ(groups.world().size(), 8);
        const at::Tensor ring_sum = filled(rank);
        groups.ring().all_reduce(ring_sum).wait();
        EXPECT_TRUE(at::equal(ring_sum, filled(2 * (rank & ~2) + 2)));  // over ranks that differ in bit 1
        const at::Tensor ulysses_sum = filled(rank);
        groups.ulysses().all_reduce(ulysses_sum).wait();
        EXPECT_TRUE(at::equal(ulysses_sum, filled(2 * (rank & ~1) + 1)));
    });
}

TEST(Groups, CountTheBytesThatARankSends) {
    run_ranks(ring_mesh(4), [](int rank, Groups& groups) {
        const at::Tensor tensor = filled(rank, 1000);
        const at::Tensor other = at::empty_like(tensor);
        groups.ring()
            .exchange({tensor, tensor}, (rank + 1) % 4, {other, at::empty_like(other)}, (rank + 3) % 4)
            .wait();
        EXPECT_EQ(groups.take_totals().sent_bytes, 2 * 4000);
        groups.world().all_reduce(tensor).wait();
        EXPECT_EQ(groups.take_totals().sent_bytes, 2 * 3 * 1000);
        groups.world().all_to_all(other, tensor).wait();
        EXPECT_EQ(groups.take_totals().sent_bytes, 3 * 1000);
        groups.world().broadcast(tensor, 2).wait();
        EXPECT_EQ(groups.take_totals().sent_bytes, rank == 2 ? 3 * 4000 : 0);
    });
}

/// Only the time inside wait() counts as exposed, however much time passed before it. The bounds come from
/// the test's own clocks, so that delays on a busy machine do not fail it.
TEST(Groups, TellHiddenTimeFromExposedTime) {
    constexpr auto kLate = std::chrono::milliseconds(60);
    using Clock = std::chrono::steady_clock;
    using Seconds = std::chrono::duration<double>;
    std::promise<Clock::time_point> late_one;
    run_ranks(ring_mesh(2), [&](int rank, Groups& groups) {
        groups.world().barrier();
        groups.take_totals();
        const at::Tensor received = at::empty({4}, at::kFloat);
        if (rank == 1) {
            std::this_thread::sleep_for(kLate);
            late_one.set_value(Clock::now());
        }
        Transfer transfer = groups.ring().exchange({filled(rank)}, 1 - rank, {received}, 1 - rank);
        Clock::time_point before = Clock::now();
        transfer.wait();
        CommTotals totals = groups.take_totals();
        if (rank == 0) {
            const Seconds waited = late_one.get_future().get() - before;
            EXPECT_GE(totals.exposed_s, waited.count() - 0.005);
            EXPECT_GE(totals.in_flight_s, waited.count() - 0.005);
        }
        groups.world().barrier();
        groups.take_totals();
        transfer = groups.ring().exchange({filled(rank)}, 1 - rank, {received}, 1 - rank);
        std::this_thread::sleep_for(kLate);  // stands in for computing
        before = Clock::now();
        transfer.wait();
        const Seconds waited = Clock::now() - before;
        totals = groups.take_totals();
        EXPECT_LE(totals.exposed_s, waited.count());
        EXPECT_GT(totals.in_flight_s, 0);
    });
}

TEST(Groups, SendAndReceiveDifferentAmounts) {
    run_ranks(ring_mesh(3), [](int rank, Groups& groups) {
        std::vector<at::Tensor> sent;
        std::vector<at::Tensor> received;
        if (rank < 2) sent = {filled(rank)};
        if (rank > 0) received = {at::empty({4}, at::kFloat)};
        groups.ring().exchange(sent, (rank + 1) % 3, received, (rank + 2) % 3).wait();
        for (const at::Tensor& tensor : received) EXPECT_TRUE(at::equal(tensor, filled(rank - 1)));
        groups.ring().exchange({at::empty({0})}, (rank + 1) % 3, {at::empty({0})}, (rank + 2) % 3).wait();
    });
}

TEST(Groups, KeepTensorsAliveUntilTheyAreSent) {
    run_ranks(ring_mesh(2), [](int rank, Groups& groups) {
        constexpr int64_t kMany = 1 << 20;
        const at::Tensor received = at::empty({kMany}, at::kFloat);
        Transfer transfer;
        {
            const at::Tensor sent = filled(rank, kMany);
            transfer = groups.ring().exchange({sent}, 1 - rank, {received}, 1 - rank);
        }
        const at::Tensor over_it = filled(-1, kMany);
        transfer.wait();
        EXPECT_TRUE(at::equal(received, filled(1 - rank, kMany)));
    });
}

TEST(Groups, CompleteATransferThatIsDropped) {
    run_ranks(ring_mesh(2), [](int rank, Groups& groups) {
        const at::Tensor received = at::empty({4}, at::kFloat);
        groups.ring().exchange({filled(rank)}, 1 - rank, {received}, 1 - rank);
        EXPECT_TRUE(at::equal(received, filled(1 - rank)));
    });
}

Error failure_of_rank(int failing, const Mesh& mesh, const std::function<void(int, Groups&)>& body,
                      std::chrono::milliseconds timeout) {
    Error caught(Failure::Usage, Code("NONE"), "nothing failed");
    run_ranks(
        mesh,
        [&](int rank, Groups& groups) {
            try {
                body(rank, groups);
            } catch (const Error& error) {
                if (rank == failing) caught = error;
            }
        },
        timeout);
    return caught;
}

TEST(Groups, SayWhichPeerIsGone) {
    std::latch rank_1_failed(1);
    const Error error = failure_of_rank(
        1, ring_mesh(3),
        [&](int rank, Groups& groups) {
            groups.world().barrier();
            if (rank == 0) return;  // rank 0 leaves; its connections close
            if (rank == 2) return rank_1_failed.wait();
            const at::Tensor received = at::empty({4}, at::kFloat);
            try {
                groups.ring().exchange({filled(rank)}, 2, {received}, 0, "keys and values").wait();
            } catch (...) {
                rank_1_failed.count_down();
                throw;
            }
            rank_1_failed.count_down();
        },
        std::chrono::seconds(20));
    EXPECT_EQ(error.failure, Failure::Refused);
    EXPECT_THAT(error.what(), ::testing::StartsWith("rank 1 waits before the first layer, for rank 0 to send "
                                                    "keys and values (starting; transfer 1 of ring): "));
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr(".cc")));
}

TEST(Groups, EndATransferThatNobodyAnswers) {
    std::latch rank_0_failed(1);
    const Error error = failure_of_rank(
        0, ring_mesh(2),
        [&](int rank, Groups& groups) {
            groups.world().barrier();
            if (rank == 1) {
                rank_0_failed.wait();
                return;
            }
            groups.progress().begin(Activity::Training, 7);
            groups.progress().begin_micro_batch(2);
            groups.progress().enter_layer(Pass::Backward, 12);
            groups.progress().enter_hop(5);
            const at::Tensor received = at::empty({4}, at::kFloat);
            try {
                groups.ring().exchange({}, 1, {received}, 1, "keys and values").wait();
            } catch (...) {
                rank_0_failed.count_down();
                throw;
            }
            rank_0_failed.count_down();
        },
        std::chrono::milliseconds(300));
    EXPECT_EQ(error.failure, Failure::Refused);
    EXPECT_EQ(error.cause, cause::kTimeout);
    EXPECT_EQ(error.text(),
              "rank 0 waits in layer 12, hop 5, for rank 1 to send keys and values (backward of step 7, "
              "micro-batch 2; transfer 1 of ring): nothing came for 0.3 s");
}

TEST(Groups, EndACollectiveThatNobodyAnswersWhereItWasPosted) {
    std::latch rank_0_failed(1);
    const Error error = failure_of_rank(
        0, ring_mesh(3),
        [&](int rank, Groups& groups) {
            groups.world().barrier();
            if (rank == 1) {
                rank_0_failed.wait();
                return;
            }
            groups.set_timeout(std::chrono::milliseconds(200));
            groups.progress().begin(Activity::Training, 1);
            groups.progress().enter_layer(Pass::Backward, 1);
            Transfer sum = groups.world().all_reduce(filled(rank));
            groups.progress().enter_layer(Pass::Backward, 0);
            try {
                sum.wait();
            } catch (...) {
                if (rank == 0) rank_0_failed.count_down();
                throw;
            }
        },
        std::chrono::minutes(1));
    EXPECT_EQ(
        error.text(),
        "rank 0 waits in layer 1, hop 0, for the all-reduce of all 3 ranks of world (backward of step 1, "
        "micro-batch 0; transfer 2 of world): nothing came for 0.2 s");
}

TEST(Groups, NumberTransfersAlikeOnAllRanks) {
    ProgressTable table(3);
    std::latch all_wait(1);
    const auto store = c10::make_intrusive<c10d::HashStore>();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank) {
        threads.emplace_back([&, rank] {
            GroupOptions options;
            options.progress = std::make_shared<RankProgress>(table.descriptor(), rank);
            Groups groups = make_groups(store, rank, ring_mesh(3), options);
            groups.world().barrier();
            for (int hop = 0; hop < 4; ++hop) {
                if (rank == 2 && hop == 3) all_wait.wait();
                groups.progress().enter_hop(hop);
                const at::Tensor received = at::empty({4}, at::kFloat);
                groups.ring().exchange({filled(hop)}, (rank + 1) % 3, {received}, (rank + 2) % 3).wait();
            }
        });
    }
    while (!table.of(0).waits || table.of(0).awaited.sequence < 4) std::this_thread::yield();
    const Whereabouts at = table.of(0);
    all_wait.count_down();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(at.awaited.partner.role, Partner::Role::Sender);
    EXPECT_EQ(at.awaited.partner.rank_or_count, 2);
    EXPECT_EQ(at.awaited.partner.what, "data");
    EXPECT_EQ(at.awaited.group, "ring");
    EXPECT_EQ(at.awaited.sequence, 4);
    EXPECT_EQ(at.awaited.place.hop, 3);
    EXPECT_FALSE(table.of(0).waits);
}

TEST(Groups, LeaveATransferBehindWhileAnExceptionPasses) {
    const auto begun = std::chrono::steady_clock::now();
    std::latch rank_0_left(1);
    EXPECT_THROW(run_ranks(ring_mesh(2),
                           [&](int rank, Groups& groups) {
                               groups.world().barrier();
                               if (rank == 1) {
                                   rank_0_left.wait();
                                   return;
                               }
                               const auto leave = [&]() -> Transfer {
                                   const at::Tensor received = at::empty({4}, at::kFloat);
                                   Transfer never = groups.ring().exchange({}, 1, {received}, 1);
                                   throw std::runtime_error("a loss that is not a number");
                               };
                               try {
                                   leave();
                               } catch (...) {
                                   rank_0_left.count_down();
                                   throw;
                               }
                           }),
                 std::runtime_error);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST(Groups, OfOneRankNeedNoStore) {
    Groups groups = make_groups({}, 0, Mesh(), GroupOptions());
    const at::Tensor tensor = filled(3);
    groups.world().all_reduce(tensor).wait();
    groups.world().broadcast(tensor, 0).wait();
    groups.world().barrier();
    const at::Tensor received = at::empty({4}, at::kFloat);
    groups.ulysses().all_to_all(received, tensor).wait();
    EXPECT_TRUE(at::equal(received, filled(3)));
    EXPECT_EQ(groups.take_totals().sent_bytes, 0);
}

TEST(Groups, SayWhatIsMissingForCuda) {
    GroupOptions options;
    options.device = Device::Cuda;
    options.device_index = 1000;
    try {
        make_groups({}, 0, Mesh(), options);
        FAIL() << "no machine has so many";
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Unreachable);
        EXPECT_THAT(error.text(), ::testing::HasSubstr("CUDA"));
    }
}

}  // namespace
}  // namespace ringmaster
