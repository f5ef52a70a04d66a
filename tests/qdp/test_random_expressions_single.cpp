// Random expression trees in single precision, and with both precisions in one tree.
#include "random_trees.hpp"

using tests::check_random_trees;

TEST_CASE("random float trees on 4x4x4x8") { check_random_trees<float, false>({4, 4, 4, 8}, 80, 11); }
TEST_CASE("random float trees on 3x5x7x2") { check_random_trees<float, false>({3, 5, 7, 2}, 60, 12); }
TEST_CASE("random float trees on 2x4x6x8") { check_random_trees<float, false>({2, 4, 6, 8}, 40, 13); }
TEST_CASE("random mixed trees on 4x4x4x8") { check_random_trees<double, true>({4, 4, 4, 8}, 60, 14); }
TEST_CASE("random mixed trees on 5x3x1x3") { check_random_trees<double, true>({5, 3, 1, 3}, 40, 15); }
