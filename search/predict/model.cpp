#include "search/predict/model.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tile_tune::predict {
namespace {

// Decision 25.
constexpr int kTrees = 50;
constexpr const char* kParameters[][2] = {{"objective", "reg:squarederror"},
                                          {"max_depth", "4"},
                                          {"eta", "0.15"},
                                          {"min_child_weight", "0.1"},  // the weights below are at most 1 a sample
                                          {"tree_method", "hist"},
                                          {"max_bin", "64"},  // exact splits take four times as long on 1,000 rows
                                          {"nthread", "1"},
                                          {"seed", "0"},
                                          {"verbosity", "0"}};

// Fast schedules must be told apart from one another; slow ones need only be known as slow.
constexpr float kLeastWeight = 0.05F;

tl::unexpected<Diagnostic> broken() {
  return failure("cost-model", fmt::format("the cost model failed: {}", XGBGetLastError()),
                 "`--strategy genetic` searches without it");
}

/// Frees with `release`, whatever the path out.
std::shared_ptr<void> owned(void* handle, int (*release)(void*)) {
  return {handle, [release](void* held) { release(held); }};
}

Result<std::shared_ptr<void>> matrix(const std::vector<const std::vector<float>*>& rows) {
  const size_t columns = rows.empty() ? 0 : rows.front()->size();
  std::vector<float> values;
  values.reserve(rows.size() * columns);
  for (const auto* row : rows) values.insert(values.end(), row->begin(), row->end());
  DMatrixHandle handle = nullptr;
  const float missing = std::numeric_limits<float>::quiet_NaN();
  if (XGDMatrixCreateFromMat(values.data(), rows.size(), columns, missing, &handle) != 0) return broken();
  return owned(handle, XGDMatrixFree);
}

}  // namespace

Result<CostModel> CostModel::fit(const std::vector<Sample>& samples) {
  std::vector<const std::vector<float>*> rows;
  std::vector<float> labels, weights;
  for (const Sample& sample : samples) {
    rows.push_back(&sample.row);
    labels.push_back(sample.speed);
    weights.push_back(std::max(sample.speed, kLeastWeight));
  }
  TILE_TUNE_TRY(data, matrix(rows));
  if (XGDMatrixSetFloatInfo(data.get(), "label", labels.data(), labels.size()) != 0 ||
      XGDMatrixSetFloatInfo(data.get(), "weight", weights.data(), weights.size()) != 0)
    return broken();
  BoosterHandle handle = nullptr;
  const DMatrixHandle cache[] = {data.get()};
  if (XGBoosterCreate(cache, 1, &handle) != 0) return broken();
  CostModel model(owned(handle, XGBoosterFree));
  for (const auto& [name, value] : kParameters)
    if (XGBoosterSetParam(handle, name, value) != 0) return broken();
  for (int tree = 0; tree < kTrees; ++tree)
    if (XGBoosterUpdateOneIter(handle, tree, data.get()) != 0) return broken();
  return model;
}

Result<std::vector<float>> CostModel::predict(const std::vector<std::vector<float>>& rows) const {
  if (rows.empty()) return std::vector<float>{};
  std::vector<const std::vector<float>*> pointers;
  for (const auto& row : rows) pointers.push_back(&row);
  TILE_TUNE_TRY(data, matrix(pointers));
  bst_ulong count = 0;
  const float* values = nullptr;
  if (XGBoosterPredict(booster_.get(), data.get(), 0, 0, 0, &count, &values) != 0) return broken();
  return std::vector<float>(values, values + count);
}

}  // namespace tile_tune::predict
