#include "frontend/reference/reference.h"
#include "frontend/reference/value.h"
#include "frontend/tensor/convert.h"

namespace tile_tune::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// |got - expected| / tolerance, at most 1 where the element passes. Zeros that are exact have their sign, if it is
// told.
double badness(double got, double expected, double tolerance, Outcomes also) {
  if (also != 0 && admits(also, got)) return 0;
  if (got == 0 && expected == 0 && tolerance == 0 && !(also & kOtherZero) &&
      std::signbit(got) != std::signbit(expected))
    return kInfinity;
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) == std::isnan(got) ? 0 : kInfinity;
  if (got == expected) return 0;
  if (std::isinf(expected) || std::isinf(got) || tolerance == 0) return kInfinity;
  return std::abs(got - expected) / tolerance;
}

// The part of a complex element that is further off, with what is expected of it.
struct Part {
  double got, expected, bad;
};
Part worse_part(std::complex<double> got, double real, double imaginary, double tolerance, Outcomes also) {
  const Part first{got.real(), real, badness(got.real(), real, tolerance, also)};
  const Part second{got.imag(), imaginary, badness(got.imag(), imaginary, tolerance, also)};
  return second.bad > first.bad ? second : first;
}

// Difference of two integers of a type; U64 as bit patterns. 0 exactly where they are equal, however large.
double difference(DType type, int64_t a, int64_t b) {
  if (type == DType::U64)
    return std::abs(static_cast<double>(static_cast<uint64_t>(a)) - static_cast<double>(static_cast<uint64_t>(b)));
  return std::abs(static_cast<double>(a) - static_cast<double>(b));
}

}  // namespace

Verdict compare(const Expected& expected, const tensor::Array& got) {
  Verdict verdict;
  int64_t failures = 0;
  const int64_t stored = static_cast<int64_t>(got.data.size() / dtype_size(got.type));
  const int64_t available = got.strides.empty() ? stored : got.element_count();
  const bool integers = !expected.integers.empty() && is_integer(got.type);
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    const int64_t element = expected.elements[i], place = element < available ? got.place(element) : 0;
    const double tolerance = expected.tolerances[i];
    const Outcomes also = expected.also.empty() ? Outcomes{0} : expected.also[i];
    double value = std::numeric_limits<double>::quiet_NaN(), wanted = expected.values[i], bad = 0;
    if (element < available && !is_complex(got.type)) {
      value = is_float(got.type)
                  ? tensor::load_real(got.type, got.data.data(), place)
                  : convert(got.type, DType::F64, {0, tensor::load_integer(got.type, got.data.data(), place), 0}).real;
    }
    if (integers && element < available) {
      const int64_t exact = tensor::load_integer(got.type, got.data.data(), place);
      if (exact != expected.integers[i])
        bad = tolerance == 0 ? kInfinity : difference(got.type, exact, expected.integers[i]) / tolerance;
    } else if (is_complex(got.type) && element < available) {
      const auto number = tensor::load_complex(got.type, got.data.data(), place);
      const Part part = worse_part(number, wanted, expected.imaginaries[i], tolerance, also);
      value = part.got;
      wanted = part.expected;
      bad = part.bad;
    } else {
      bad = badness(value, wanted, tolerance, also);
    }
    if (!(bad <= 1)) ++failures;
    if (bad > verdict.worst || (!(bad <= 1) && !verdict.mismatch)) {
      verdict.worst = bad;
      if (!(bad <= 1)) verdict.mismatch = Mismatch{expected.tensor, element, value, wanted, tolerance, 0};
    }
  }
  if (verdict.mismatch) verdict.mismatch->count = failures;
  return verdict;
}

}  // namespace tile_tune::reference
