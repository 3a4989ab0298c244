#include "kstream/status.h"

#include <gtest/gtest.h>
TEST(Status, KeepsItsCodeWhenAPlaceIsAdded) {
  kstream::Status s = kstream::Status::Data("not JSON").At("orders[0]@2");
  EXPECT_EQ(s.code(), kstream::StatusCode::kData);
  EXPECT_EQ(s.message(), "orders[0]@2: not JSON");
  EXPECT_TRUE(kstream::Status::Ok().At("x").ok());
}
