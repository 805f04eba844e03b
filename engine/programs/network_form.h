// Networks: programs whose statements are the pairwise steps of one product of several tensors, read back off the IR.
#pragma once

#include <optional>
#include <vector>

#include "frontend/einsum/einsum.h"
#include "frontend/ir/program.h"
#include "frontend/plan/order.h"

namespace tile_tune::engine {

/// A tensor that is read as a whole: the statement's index of each dimension.
struct WholeRead {
  int tensor = -1;
  std::vector<int> indices;
};

/// A sum, or no sum, of a product of whole tensors.
struct Product {
  std::vector<int> result;         // the index of each dimension, all different
  std::vector<WholeRead> factors;  // one or two, as they stand; types may differ from the product's
};

/// nullopt of any other statement of a bound program.
std::optional<Product> product_of(const ir::Program& program, const ir::Statement& statement);

/// A bound program of such statements as the einsum it computes: operands in the order of its inputs.
struct Network {
  einsum::Einsum notation;
  einsum::Known known;
  std::vector<plan::AxisSet> operands;
  plan::AxisSet result;
  std::vector<double> extents;  // by axis
  plan::Order order;            // of the program's own steps
};

/// Which pieces the steps of an einsum's program contract.
plan::Order order_of_steps(const ir::Program& program);

/// nullopt where another statement is among them, or an input is read twice or not at all.
std::optional<Network> network_of(const ir::Program& program);

/// The network's program in another order: with its name, signature, storage and use.
Result<ir::Program> in_order(const ir::Program& program, const Network& network, const plan::Order& order);

/// Whether two orders of so many operands are the same steps, whichever comes first.
bool is_same_order(const plan::Order& a, const plan::Order& b, size_t operands);

}  // namespace tile_tune::engine
