#include "app/setting_names.hpp"

#include <gtest/gtest.h>

#include "lockstep/app/components.hpp"
#include "lockstep/app/run_settings.hpp"

namespace lockstep {
namespace {

TEST(SettingNames, AreSettings) {
  const RunSettings settings(builtin_components());
  const auto check_all = [&](const auto& names) {
    // origin() throws where there is no such setting.
    for (const std::string_view name : names) {
      EXPECT_NO_THROW(settings.configuration().origin(name)) << name;
    }
  };
  check_all(setting_names::free_on_resume);
  check_all(setting_names::for_one_start);
  check_all(setting_names::used_in_inference);
  check_all(setting_names::used_in_bench);
  check_all(setting_names::only_in_training);
}

}  // namespace
}  // namespace lockstep
