import os
import unittest

from benchmark import measure, operators
from benchmark.operators import Convolution, Einsum, Layers, Lookup, Named, Pool

SUITE = os.path.join(os.environ["TILE_TUNE_SOURCE_DIR"], "configs", "suites", "public.json")


class Operators(unittest.TestCase):
    def setUp(self):
        self.suite = measure.suite_of(SUITE)

    def check(self, name, operation):
        self.assertEqual(operators.operation_of(self.suite[name]), operation, name)

    def test_every_workload_has_an_operation(self):
        self.assertEqual([name for name, one in self.suite.items() if operators.operation_of(one) is None], [])

    def test_operations_are_read_off_the_suite(self):
        self.check("matmul_256", Einsum("ik,kj->ij"))
        self.check("tc_mlp1_128x2000x128", Layers(False))
        self.check("tc_mlp3_128_128_64_32_2", Layers(True))
        self.check("tc_2lut", Lookup())
        self.check("csum_4096", Named("cumulative_sum"))
        self.check("avgpool_8x64x112_k2s2", Pool(False, 2, 2, 0))
        self.check("maxpool_40x64x112_k3s2p1", Pool(True, 3, 2, 1))

    def test_a_library_spells_operations_in_a_table(self):
        spelled = {Einsum: lambda operation, *inputs: (operation.subscripts, inputs)}
        named = {"softmax": lambda x: -x}
        self.assertEqual(operators.function_of(Einsum("i->"), spelled, named)(1, 2), ("i->", (1, 2)))
        self.assertEqual(operators.function_of(Named("softmax"), spelled, named)(3), -3)
        self.assertIsNone(operators.function_of(Named("attention"), spelled, named))
        self.assertIsNone(operators.function_of(Lookup(), spelled, named))

    def test_convolutions(self):
        self.check("tc_gc_32x32x4x56", Convolution(groups=32))
        self.check("tc_conv_32x4x56", Convolution())
        self.check("conv1d_8x4096x64_k3", Convolution(True, 1, (1,), (1,), (0,)))
        self.check("dilated_conv2d_56x64_d2x3", Convolution(True, dilation=(2, 3)))
        self.check("complex_conv_224_g3_s2d3p", Convolution(True, 3, (2, 2), (3, 3), (3, 3)))
        self.check("resnet_conv1_7x7s2_b1_nchw", Convolution(False, 1, (2, 2), (1, 1), (3, 3)))
        self.check("resnet_c2_3x3_b1_nhwc_bf16", Convolution(True, 1, (1, 1), (1, 1), (1, 1)))
        self.check("dwconv3x3_8x128x56_nchw", Convolution(False, 128, (1, 1), (1, 1), (1, 1)))
        self.check("dwconv3x3_1x128x56_nhwc", Convolution(True, 128, (1, 1), (1, 1), (1, 1)))
        self.check("resnet_c2_3x3_b1_nchw_bias_relu", Convolution(False, 1, (1, 1), (1, 1), (1, 1), relu=True))


class Passes(unittest.TestCase):
    def test_bars_in_percent_take_three_processes_of_the_two_thread_pass(self):
        cache, suite = 32 << 20, measure.suite_of(SUITE)
        two, one = measure.PASSES[0], measure.PASSES[1]
        self.assertEqual(measure.processes_wanted(two, suite["matmul_1024"], cache), 3)
        self.assertEqual(measure.processes_wanted(two, suite["matvec_8192"], cache), 3)
        self.assertEqual(measure.processes_wanted(two, suite["matmul_256"], cache), 1)
        self.assertEqual(measure.processes_wanted(two, suite["attention_4x8x512x64"], cache), 1)
        self.assertEqual(measure.processes_wanted(one, suite["matmul_1024"], cache), 1)


if __name__ == "__main__":
    unittest.main()
