#include "cli/binding_options.h"

#include "cli/option_checks.h"

namespace tile_tune::cli {

void add_binding_options(Verb& verb, engine::BindingOptions& options) {
  verb.add_option("-s,--size", options.sizes,
                  "A symbolic size; repeatable (tune and build of one program: also NAME=1..512 and NAME=64,128)")
      .type_name("NAME=N")
      .one_value_each();
  verb.add_option("--layout", options.layouts,
                  "Where elements lie: row, col, NAME=col or NAME=4096,1 (strides in elements; any: the caller's); "
                  "repeatable (default: row)")
      .type_name("ORDER")
      .one_value_each();
  verb.add_option("--constant", options.constants,
                  "An input that stays the same from call to call (weights): kernels take it packed; repeatable")
      .type_name("NAME")
      .one_value_each();
  verb.add_option("--objective", options.objective,
                  "What is to be fast: a call on arrays that are in the caches or on arrays in memory (default: hot)")
      .type_name("hot|cold")
      .one_of({"hot", "cold"});
  verb.add_option("--dtype", options.dtypes,
                  "Element type of einsum operands: T, NAME=T or out=T; repeatable (default: f32)")
      .type_name("T")
      .one_value_each();
  verb.add_option("--shape", options.shapes, "Shape of an einsum operand, needed where it has '...'; repeatable")
      .type_name("NAME=N,N")
      .one_value_each();
  refuse_empty(verb.add_option("--path", options.path,
                               "The order of an einsum's contractions, as opt_einsum and JAX have it: each step takes "
                               "two places in what is left, and its result comes last (1,2;0,1)")
                   .type_name("I,J;..."));
}

}  // namespace tile_tune::cli
