// What the tests of databases do over and over, with the matrix-vector product of examples/.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "sandbox.h"

namespace tile_tune::test {

using Words = std::vector<std::string>;

inline const Words kMatvec = {"matvec.tc", "-s", "R=31", "-s", "C=37"};

/// `tile-tune VERB PROGRAM MORE`.
Finished run(const Sandbox& box, const std::string& verb, const Words& more, const Words& program = kMatvec);

/// Two trials of it into the database `file`.
void tune(const Sandbox& box, const std::string& file, const std::string& seed = "1");

/// What a command printed that has to succeed.
nlohmann::json json_of(const Finished& finished);

/// How well the schedule is known that these databases give.
std::string rung(const Sandbox& box, const Words& databases, const Words& program = kMatvec);

/// A database's only program gets one more winner: the default schedule, changed.
void choose(const Sandbox& box, const std::string& file, const std::function<void(nlohmann::json&)>& change);

}  // namespace tile_tune::test
