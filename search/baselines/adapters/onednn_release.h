// What oneDNN 2 and oneDNN 3 say differently: how a primitive is described, and what a tensor's description tells.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace baseline {
namespace onednn {

using dnnl::memory;
using Dims = memory::dims;

/// Strides, dilations and padding of a window, in oneDNN's terms.
struct Sliding {
  Dims strides, dilations, before, after;
};

constexpr auto kForward = dnnl::prop_kind::forward_inference;

#if DNNL_VERSION_MAJOR < 3

using PoolingForward = dnnl::pooling_v2_forward;
using SoftmaxForward = dnnl::softmax_v2_forward;

inline Dims dims_of(const memory::desc& desc) { return desc.dims(); }
inline memory::data_type type_of(const memory::desc& desc) { return desc.data_type(); }

inline void scale_results(float scale, dnnl::primitive_attr& attr, dnnl::post_ops&) {
  attr.set_output_scales(0, {scale});
}
inline void add_relu(dnnl::post_ops& ops) { ops.append_eltwise(1.f, dnnl::algorithm::eltwise_relu, 0.f, 0.f); }

inline dnnl::matmul::primitive_desc describe_product(const memory::desc& a, const memory::desc& b,
                                                     const memory::desc* bias, const memory::desc& c,
                                                     const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  return {bias ? dnnl::matmul::desc(a, b, *bias, c) : dnnl::matmul::desc(a, b, c), attr, engine};
}
inline dnnl::convolution_forward::primitive_desc describe_convolution(
    const memory::desc& image, const memory::desc& kernel, const memory::desc* bias, const memory::desc& result,
    const Sliding& by, const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  using Desc = dnnl::convolution_forward::desc;
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  return {bias ? Desc(kForward, kDirect, image, kernel, *bias, result, by.strides, by.dilations, by.before, by.after)
               : Desc(kForward, kDirect, image, kernel, result, by.strides, by.dilations, by.before, by.after),
          attr, engine};
}
inline PoolingForward::primitive_desc describe_pooling(dnnl::algorithm algorithm, const memory::desc& image,
                                                       const memory::desc& result, const Dims& kernel,
                                                       const Sliding& by, const dnnl::engine& engine) {
  return {{kForward, algorithm, image, result, by.strides, kernel, by.dilations, by.before, by.after}, engine};
}
inline SoftmaxForward::primitive_desc describe_softmax(const memory::desc& from, const memory::desc& to, int along,
                                                       const dnnl::engine& engine) {
  return {{kForward, dnnl::algorithm::softmax_accurate, from, to, along}, engine};
}
inline dnnl::reduction::primitive_desc describe_reduction(dnnl::algorithm algorithm, const memory::desc& from,
                                                          const memory::desc& to, const dnnl::engine& engine) {
  return {{algorithm, from, to, 0.f, 0.f}, engine};
}

#else

using PoolingForward = dnnl::pooling_forward;
using SoftmaxForward = dnnl::softmax_forward;

inline Dims dims_of(const memory::desc& desc) { return desc.get_dims(); }
inline memory::data_type type_of(const memory::desc& desc) { return desc.get_data_type(); }

inline void scale_results(float scale, dnnl::primitive_attr&, dnnl::post_ops& ops) {
  ops.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0.f);
}
inline void add_relu(dnnl::post_ops& ops) { ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.f, 0.f); }

inline dnnl::matmul::primitive_desc describe_product(const memory::desc& a, const memory::desc& b,
                                                     const memory::desc* bias, const memory::desc& c,
                                                     const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  return bias ? dnnl::matmul::primitive_desc(engine, a, b, *bias, c, attr)
              : dnnl::matmul::primitive_desc(engine, a, b, c, attr);
}
inline dnnl::convolution_forward::primitive_desc describe_convolution(
    const memory::desc& image, const memory::desc& kernel, const memory::desc* bias, const memory::desc& result,
    const Sliding& by, const dnnl::primitive_attr& attr, const dnnl::engine& engine) {
  using Desc = dnnl::convolution_forward::primitive_desc;
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  return bias ? Desc(engine, kForward, kDirect, image, kernel, *bias, result, by.strides, by.dilations, by.before,
                     by.after, attr)
              : Desc(engine, kForward, kDirect, image, kernel, result, by.strides, by.dilations, by.before, by.after,
                     attr);
}
inline PoolingForward::primitive_desc describe_pooling(dnnl::algorithm algorithm, const memory::desc& image,
                                                       const memory::desc& result, const Dims& kernel,
                                                       const Sliding& by, const dnnl::engine& engine) {
  return {engine, kForward, algorithm, image, result, by.strides, kernel, by.dilations, by.before, by.after};
}
inline SoftmaxForward::primitive_desc describe_softmax(const memory::desc& from, const memory::desc& to, int along,
                                                       const dnnl::engine& engine) {
  return {engine, kForward, dnnl::algorithm::softmax_accurate, from, to, along};
}
inline dnnl::reduction::primitive_desc describe_reduction(dnnl::algorithm algorithm, const memory::desc& from,
                                                          const memory::desc& to, const dnnl::engine& engine) {
  return {engine, algorithm, from, to, 0.f, 0.f};
}

#endif

}  // namespace onednn
}  // namespace baseline
