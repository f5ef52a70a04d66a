// Random expression trees in double precision against site-by-site evaluation with the reference.
#include "random_trees.hpp"

using tests::check_random_trees;

TEST_CASE("random double trees on 4x4x4x8") { check_random_trees<double, false>({4, 4, 4, 8}, 80, 1); }
TEST_CASE("random double trees on 2x2x2x2") { check_random_trees<double, false>({2, 2, 2, 2}, 60, 2); }
TEST_CASE("random double trees on 3x5x7x2") { check_random_trees<double, false>({3, 5, 7, 2}, 80, 3); }
TEST_CASE("random double trees on 1x1x1x1") { check_random_trees<double, false>({1, 1, 1, 1}, 40, 4); }
