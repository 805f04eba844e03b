// Names of roles in the JSON form, for its writer and its reader.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

inline constexpr std::array<std::pair<Role, std::string_view>, 4> kRoleNames{
    {{Role::Input, "input"}, {Role::InOut, "inout"}, {Role::Temporary, "temporary"}, {Role::Output, "output"}}};

}  // namespace tile_tune::ir
