#include "lockstep/bench/figures.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

const Figure odd{.name = "a", .unit = "s", .blocks = {3, 1, 8}};
const Figure even{
    .name = "loader", .unit = "images/s", .blocks = {4, 1, 2, 16384.4}, .remark = "fast"};

TEST(Figures, MinimumMedianMaximum) {
  EXPECT_EQ(minimum(odd), 1);
  EXPECT_EQ(median(odd), 3);
  EXPECT_EQ(maximum(odd), 8);
  EXPECT_EQ(median(even), 3);
}

TEST(Figures, MakeATable) {
  EXPECT_EQ(table_text({odd, even}),
            "           minimum      median     maximum\n"
            "a                1           3           8  s\n"
            "loader           1           3       16384  images/s  (fast)\n");
}

TEST(Figures, MakeJson) {
  EXPECT_EQ(json_text({{"ranks", "2"}}, {odd}),
            R"({
  "ranks": "2",
  "figures": [
    {
      "name": "a",
      "unit": "s",
      "minimum": 1.0,
      "median": 3.0,
      "maximum": 8.0,
      "blocks": [
        3.0,
        1.0,
        8.0
      ]
    }
  ]
}
)");
}

}  // namespace
}  // namespace lockstep
