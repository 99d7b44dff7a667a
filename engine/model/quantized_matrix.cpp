#include "engine/model/quantized_matrix.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <cstring>

#include "engine/kernels/four_bit.h"
#include "engine/model/kernel_elements.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

namespace {

constexpr int64_t kBlocksPerTask = 512;

const CodeBook16& book_of(WeightFormat format) {
    return format == WeightFormat::Fp4 ? fp4_book() : nf4_book();
}

/// Limits LibTorch to one thread while an object of this class exists. A mean depends on the number of
/// threads, and ranks with different numbers of threads must agree.
class OneThread {
  public:
    OneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
    ~OneThread() { at::set_num_threads(before_); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

  private:
    int before_;
};

/// Returns bitsandbytes' signed dynamic map (Dettmers 2016, arXiv 1511.04561): it has zero, one, and the
/// fractions of seven powers of ten with both signs. Each power has twice as many fractions as the next lower
/// one. Uses LibTorch as bitsandbytes does, because the last bits depend on the processor.
at::Tensor dynamic_map() {
    std::vector<at::Tensor> found = {at::tensor({0.0F, 1.0F})};
    for (int exponent = 0; exponent < 7; ++exponent) {
        const at::Tensor bounds = at::linspace(0.1, 1, (1 << exponent) + 1, at::kFloat);
        const at::Tensor means = (bounds.slice(0, 0, -1) + bounds.slice(0, 1)) / 2.0;
        found.push_back(means * std::pow(10.0, exponent - 6));
        found.push_back(found.back().neg());
    }
    return std::get<0>(at::cat(found).sort());
}

/// Writes the codes of a matrix and the scale of each block.
void quantize_blocks(const at::Tensor& x, const Quantization& quantization, const QuantizedLayout& layout,
                     const at::Tensor& codes, const at::Tensor& scales) {
    const int64_t block = quantization.block, elements = layout.elements();
    at::parallel_for(0, layout.blocks, kBlocksPerTask, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
            const int64_t first = b * block, count = std::min(block, elements - first);
            pointer<float>(scales)[b] =
                four_bit().quantize(pointer<float>(x) + first, count, count < block,
                                    book_of(quantization.format), pointer<uint8_t>(codes) + first / 2);
        }
    });
}

void quantize_four(const at::Tensor& weight_oc, const Quantization& quantization,
                   const QuantizedLayout& layout, const at::Tensor& bytes) {
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    const at::Tensor x = weight_oc.to(at::kFloat).contiguous();
    const at::Tensor scales =
        layout.nested_blocks > 0 ? at::empty({layout.blocks}, at::kFloat) : parts.scales;
    quantize_blocks(x, quantization, layout, parts.codes, scales);
    QuantizedTail tail{0, static_cast<int32_t>(weight_oc.scalar_type())};
    if (layout.nested_blocks > 0) {
        const OneThread alone;
        static const at::Tensor map = dynamic_map();
        static const std::vector<uint8_t> places = places_of_map(pointer<float>(map));
        tail.offset = scales.mean().item<float>();
        parts.map.copy_(map);
        quantize_scales(pointer<float>(scales), layout.blocks, tail.offset, places,
                        pointer<uint8_t>(parts.scales), pointer<float>(parts.nested));
    }
    put_tail(bytes, layout, tail);
}

/// Quantises as bitsandbytes' int8_vectorwise_quant does in float16: a row's largest magnitude becomes 127.
void quantize_rows(const at::Tensor& weight_oc, const Quantization& quantization,
                   const QuantizedLayout& layout, const at::Tensor& bytes) {
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    const int64_t rows = std::max<int64_t>(1, pieces::kQuantizedElements / layout.columns);
    for (int64_t o = 0; o < layout.rows; o += rows) {
        const int64_t count = std::min(rows, layout.rows - o);
        const at::Tensor x_oc = weight_oc.narrow(0, o, count).to(at::kHalf).to(at::kFloat);
        const at::Tensor most_o = at::amax(x_oc.abs(), 1);
        parts.scales.narrow(0, o, count).copy_(most_o);
        const at::Tensor codes_oc = at::round(x_oc * most_o.reciprocal().mul_(127.0).unsqueeze(1));
        parts.codes.narrow(0, o, count).copy_(at::nan_to_num(codes_oc, 0));  // a row of zeros gives NaN
    }
    put_tail(bytes, layout, {0, static_cast<int32_t>(weight_oc.scalar_type())});
}

/// Returns the scales of 4-bit weights, float32 [blocks].
at::Tensor scales_of(const QuantizedParts& parts, const QuantizedLayout& layout, float offset) {
    if (layout.nested_blocks == 0) return parts.scales;
    at::Tensor scales = at::empty({layout.blocks}, parts.nested.options());
    at::parallel_for(0, layout.blocks, kBlocksPerTask, [&](int64_t begin, int64_t end) {
        dequantize_scales(pointer<uint8_t>(parts.scales), pointer<float>(parts.nested),
                          pointer<float>(parts.map), begin, end - begin, offset,
                          pointer<float>(scales) + begin);
    });
    return scales;
}

void dequantize_four(const at::Tensor& bytes, const Quantization& quantization, const QuantizedLayout& layout,
                     at::Tensor out_oc) {
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    const at::Tensor scales = scales_of(parts, layout, tail_of(bytes, layout).offset);
    const CodeBook16& book = book_of(quantization.format);
    const int64_t block = quantization.block;
    with_element(out_oc, [&]<typename T>(T) {
        at::parallel_for(0, layout.blocks, kBlocksPerTask, [&](int64_t begin, int64_t end) {
            const int64_t first = begin * block, count = std::min(end * block, layout.elements()) - first;
            const uint8_t* codes = pointer<uint8_t>(parts.codes) + first / 2;
            if constexpr (std::is_same_v<T, float>)
                four_bit().dequantize_float(codes, pointer<float>(scales) + begin, count, block, book,
                                            pointer<float>(out_oc) + first);
            else if constexpr (std::is_same_v<T, Fp16>)
                four_bit().dequantize_fp16(codes, pointer<float>(scales) + begin, count, block, book,
                                           pointer<T>(out_oc) + first);
            else
                four_bit().dequantize_bf16(codes, pointer<float>(scales) + begin, count, block, book,
                                           pointer<T>(out_oc) + first);
        });
    });
}

/// Writes codes · (scale / 127), several rows at a time.
void dequantize_rows(const at::Tensor& bytes, const Quantization& quantization, const QuantizedLayout& layout,
                     at::Tensor out_oc) {
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    const int64_t rows = std::max<int64_t>(1, pieces::kQuantizedElements / layout.columns);
    for (int64_t o = 0; o < layout.rows; o += rows) {
        const int64_t count = std::min(rows, layout.rows - o);
        const at::Tensor scale_o1 = (parts.scales.narrow(0, o, count) * (1.0 / 127.0)).unsqueeze(1);
        out_oc.narrow(0, o, count).copy_(parts.codes.narrow(0, o, count).to(at::kFloat).mul_(scale_o1));
    }
}

at::Tensor book_tensor(WeightFormat format, const at::Tensor& like) {
    return at::tensor(at::ArrayRef<float>(book_of(format).values, 16), at::kFloat).to(like.device());
}

}  // namespace

at::Tensor quantize(const at::Tensor& weight_oc, const Quantization& quantization) {
    const QuantizedLayout layout = quantized_layout(quantization, weight_oc.size(0), weight_oc.size(1));
    at::Tensor bytes = at::zeros({layout.bytes}, at::kByte);
    if (quantization.is_4bit())
        quantize_four(weight_oc, quantization, layout, bytes);
    else
        quantize_rows(weight_oc, quantization, layout, bytes);
    return bytes;
}

void dequantize(const at::Tensor& bytes, const Quantization& quantization, const QuantizedLayout& layout,
                at::Tensor out_oc) {
    if (!quantization.is_4bit()) return dequantize_rows(bytes, quantization, layout, out_oc);
    if (bytes.is_cpu()) return dequantize_four(bytes, quantization, layout, out_oc);
    out_oc.copy_(dequantize_plainly(bytes, quantization, layout));
}

at::Tensor dequantize_plainly(const at::Tensor& bytes, const Quantization& quantization,
                              const QuantizedLayout& layout) {
    const QuantizedParts parts = parts_of(bytes, quantization, layout);
    if (!quantization.is_4bit())
        return parts.codes.to(at::kFloat) * (parts.scales * (1.0 / 127.0)).unsqueeze(1);
    at::Tensor scales = parts.scales;
    if (layout.nested_blocks > 0) {
        const at::Tensor of_each = parts.nested.repeat_interleave(kNestedBlock).narrow(0, 0, layout.blocks);
        scales = parts.map.index_select(0, scales.to(at::kInt)) * of_each + tail_of(bytes, layout).offset;
    }
    const at::Tensor codes =
        at::stack({parts.codes.bitwise_right_shift(4), parts.codes.bitwise_and(15)}, 1).flatten();
    const at::Tensor values = book_tensor(quantization.format, bytes).index_select(0, codes.to(at::kInt));
    const at::Tensor of_each = scales.repeat_interleave(quantization.block).narrow(0, 0, layout.elements());
    return (values.narrow(0, 0, layout.elements()) * of_each).view({layout.rows, layout.columns});
}

QuantizedParts parts_of(const at::Tensor& bytes, const Quantization& quantization,
                        const QuantizedLayout& layout) {
    const bool four = quantization.is_4bit();
    QuantizedParts parts;
    parts.codes =
        four ? bytes.narrow(0, 0, (layout.elements() + 1) / 2)
             : bytes.narrow(0, 0, layout.elements()).view(at::kChar).view({layout.rows, layout.columns});
    const bool nested = layout.nested_blocks > 0;
    parts.scales = bytes.narrow(0, layout.scales_at, layout.blocks * (nested ? 1 : 4));
    if (!nested) parts.scales = parts.scales.view(at::kFloat);
    parts.nested = bytes.narrow(0, layout.nested_at, 4 * layout.nested_blocks).view(at::kFloat);
    parts.map = bytes.narrow(0, layout.map_at, nested ? 4 * kScaleMap : 0).view(at::kFloat);
    return parts;
}

QuantizedTail tail_of(const at::Tensor& bytes, const QuantizedLayout& layout) {
    const at::Tensor raw = bytes.narrow(0, layout.tail_at, sizeof(QuantizedTail)).cpu();
    QuantizedTail tail;
    std::memcpy(&tail, raw.data_ptr(), sizeof tail);
    return tail;
}

void put_tail(const at::Tensor& bytes, const QuantizedLayout& layout, const QuantizedTail& tail) {
    std::memcpy(pointer<uint8_t>(bytes) + layout.tail_at, &tail, sizeof tail);
}

}  // namespace ringmaster
