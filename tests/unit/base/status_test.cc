#include "kstream/status.h"

#include <gtest/gtest.h>
TEST(Status, KeepsItsCodeWhenAPlaceIsAdded) {
  kstream::Status s = kstream::Status::Data("not JSON").At("orders[0]@2");
  EXPECT_EQ(s.code(), kstream::StatusCode::kData);
  EXPECT_EQ(s.message(), "orders[0]@2: not JSON");
  EXPECT_TRUE(kstream::Status::Ok().At("x").ok());
}

TEST(Status, IsOneLine) {
  EXPECT_EQ(kstream::Status::Data("a\nb\r\n\nc\n").message(), "a b c");
  EXPECT_EQ(kstream::Status::Data("\n").message(), "");
  EXPECT_EQ(kstream::Status::Data("a").At("x\ny").message(), "x y: a");
}
