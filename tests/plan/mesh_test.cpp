#include "engine/layout/mesh.h"

#include <gtest/gtest.h>

namespace ringmaster {
namespace {

TEST(Mesh, UlyssesRanksAreNeighboursThenThoseOfARing) {
    const Mesh mesh{2, 1, 2, 2};
    ASSERT_EQ(mesh.ranks(), 8);
    EXPECT_EQ(mesh.coordinates(1).ulysses, 1);
    EXPECT_EQ(mesh.coordinates(1).ring, 0);
    EXPECT_EQ(mesh.coordinates(2).ring, 1);
    EXPECT_EQ(mesh.coordinates(4).dp_replicate, 1);
    EXPECT_EQ(mesh.data_rank(5), 1);
    EXPECT_EQ(mesh.context_rank(7), 3);
}

TEST(Mesh, CoordinatesAndRankAreInverse) {
    const Mesh mesh{2, 3, 4, 5};
    for (int rank = 0; rank < mesh.ranks(); ++rank) EXPECT_EQ(mesh.rank_of(mesh.coordinates(rank)), rank);
}

}  // namespace
}  // namespace ringmaster
