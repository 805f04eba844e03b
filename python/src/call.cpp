#include "python/src/call.h"

#include <algorithm>
#include <bit>

#include "python/src/errors.h"
#include "python/src/results.h"
#include "python/src/torch.h"

namespace tile_tune::python {

namespace {

/// The engine's arrays of one call at a time: calls of several threads may be in one entry.
struct EngineArrays {
  std::vector<engine::Array> inputs, outputs;
};

/// While it lives other threads run Python.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() {
    take_lock([this] { PyEval_RestoreThread(state_); });
  }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* const state_;
};

}  // namespace

struct CallTable::Entry {
  Entry(const Key& key, const CallArrays& arrays, const Arguments& arguments, const Resolve& resolve);

  bool is_of(const Key& other, PyObject* other_text) const {
    if (!other.equals(key)) return false;
    return other_text == text.ptr() || PyUnicode_Compare(other_text, text.ptr()) == 0;
  }

  std::vector<int64_t> key;
  nb::object text;
  std::vector<nb::object> kept;  // what the key has addresses of
  std::optional<engine::Kernel> kernel;
  EngineArrays pattern;  // without pointers
  std::vector<std::unique_ptr<EngineArrays>> free;
  std::vector<ResultMaker> makers;  // none where the outputs are given
};

CallTable::Entry::Entry(const Key& words, const CallArrays& arrays, const Arguments& arguments, const Resolve& resolve)
    : key(words.words().begin(), words.words().end()), text(nb::borrow(arguments.text)) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    arrays.keep_alive(i, words, kept);
    (i < arguments.inputs.size() ? pattern.inputs : pattern.outputs).push_back(arrays.array(i, words));
  }
  Resolved resolved = resolve(pattern.inputs, pattern.outputs);
  kernel = std::move(resolved.kernel);
  if (!arguments.outputs.empty()) return;
  for (const auto& type : resolved.outputs) {
    makers.emplace_back(arguments.inputs.front(), type);
    pattern.outputs.push_back({nullptr, type.type, type.shape});
  }
}

nb::object CallTable::call(const Arguments& arguments, const Resolve& resolve) {
  CallArrays arrays;
  Key key;
  key.add(arguments.text ? PyObject_Hash(arguments.text) : 0);
  key.add(static_cast<int64_t>(arguments.inputs.size() << 32 | arguments.outputs.size()));
  for (PyObject* input : arguments.inputs) arrays.add(input, false, key);
  for (PyObject* output : arguments.outputs) arrays.add(output, true, key);

  for (const size_t input : arguments.size_inputs) key.add(arrays.value(input, key));

  auto& place = entries_[key.hash() & (entries_.size() - 1)];
  std::shared_ptr<Entry> entry = place;  // shared, since a call of another thread may put another entry there
  const bool is_known = entry && entry->is_of(key, arguments.text);
  if (!is_known) {
    drop_messages();
    entry = std::make_shared<Entry>(key, arrays, arguments, resolve);
  }

  std::unique_ptr<EngineArrays> engine_arrays;
  if (entry->free.empty()) {
    engine_arrays = std::make_unique<EngineArrays>(entry->pattern);
  } else {
    engine_arrays = std::move(entry->free.back());
    entry->free.pop_back();
  }
  auto& [inputs, outputs] = *engine_arrays;
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].data = arrays.data(i);
  nb::object result;
  std::vector<nb::object> more;  // of several
  const auto keep = [&](nb::object array) {
    if (!result.is_valid())
      result = std::move(array);
    else
      more.push_back(std::move(array));
  };
  if (entry->makers.empty()) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].data = arrays.data(inputs.size() + i);
      keep(nb::borrow(arguments.outputs[i]));
    }
  } else {
    for (size_t i = 0; i < outputs.size(); ++i) {
      auto [array, data] = entry->makers[i].make();
      outputs[i].data = data;
      keep(std::move(array));
    }
  }
  const auto done = [&] {
    const WithoutLock unlocked;
    return (*entry->kernel)(inputs, outputs);
  }();
  entry->free.push_back(std::move(engine_arrays));
  if (!done && PyErr_Occurred()) raise_python_error();  // what a signal's handler raised, as Ctrl-C's does
  if (!done) raise(done.error());
  if (!is_known) {
    place = entry;
    tell_messages();
  }
  for (PyObject* output : arguments.outputs)
    if (array_type_of(output).family == Family::Torch) torch::note_written(output);
  if (!entry->makers.empty()) {
    result = entry->makers.front().finished(std::move(result));
    for (size_t i = 0; i < more.size(); ++i) more[i] = entry->makers[i + 1].finished(std::move(more[i]));
  }
  if (more.empty()) return result;
  nb::list all;
  all.append(result);
  for (const auto& one : more) all.append(one);
  return nb::tuple(all);
}

void CallTable::clear() { std::fill(entries_.begin(), entries_.end(), nullptr); }

}  // namespace tile_tune::python
