#include "engine/optimizers/state_file.h"

#include <ATen/ATen.h>

#include <cstring>
#include <memory>

namespace ringmaster {

namespace {

const char* dtype_of(at::ScalarType dtype) {
    if (dtype == at::kDouble) return "F64";
    return dtype == at::kFloat ? "F32" : dtype == at::kByte ? "U8" : "BF16";
}

at::Tensor as_bytes(const at::Tensor& tensor) {
    return tensor.size(0) == 0 ? at::empty({0}, tensor.options().dtype(at::kByte)) : tensor.view(at::kByte);
}

int64_t blocks_of(int64_t elements, int64_t block) {
    return (elements + block - 1) / block;
}

/// Returns the tensor's form in the file: the parameter's shape, or for 4-bit codes a number of bytes.
TensorInfo info_of(const std::string& name, const ParameterShape& shape, const StoredState& state) {
    TensorInfo info{name + "." + shape.name, dtype_of(state.dtype()), shape.shape};
    if (state.in_codes() && state.book().bits == 4) info.shape = {state.book().bytes_of(shape.size())};
    return info;
}

/// Returns the range of bytes in the stored tensor that holds these elements.
FlatRange bytes_of(const StoredState& state, const FlatRange& elements) {
    if (state.in_codes()) return {state.book().bytes_of(elements.begin), state.book().bytes_of(elements.end)};
    const auto each = static_cast<int64_t>(c10::elementSize(state.dtype()));
    return {elements.begin * each, elements.end * each};
}

/// Returns the bytes of the scales of blocks that begin in [begin, end); another rank stores the scale of a
/// block that begins earlier.
FlatRange scale_bytes(const StoredState& state, const FlatRange& elements) {
    constexpr int64_t each = sizeof(float);
    return {blocks_of(elements.begin, state.block()) * each, blocks_of(elements.end, state.block()) * each};
}

std::string scales_of(const std::string& name) {
    return name + "_absmax";
}

void read_bytes(const SafetensorsFile& file, const std::string& name, const at::Tensor& into, int64_t begin) {
    const auto bytes = file.elements<std::byte>(name, dtype_of(into.scalar_type()));
    if (into.size(0) == 0) return;
    at::Tensor stored = at::empty(into.sizes(), into.options().device(at::kCPU));
    TORCH_CHECK(begin + static_cast<int64_t>(stored.nbytes()) <= static_cast<int64_t>(bytes.size()), name,
                " is too short");
    std::memcpy(stored.data_ptr(), bytes.data() + begin, stored.nbytes());
    into.copy_(stored);
}

}  // namespace

void StateFile::add(const std::string& name, size_t parameter, const StoredState& state) {
    const ParameterShape& shape = parameters_.shapes()[parameter];
    const FlatRange own = parameters_.own_elements(parameter);
    entries_.push_back(
        {info_of(name, shape, state), bytes_of(state, own), [state] { return as_bytes(state.stored()); }});
    if (!state.in_codes()) return;
    const FlatRange begun = scale_bytes(state, own);
    const at::Tensor scales = as_bytes(state.scales());
    const int64_t blocks = blocks_of(shape.size(), state.block());
    entries_.push_back(
        {{scales_of(name) + "." + shape.name, "F32", {blocks}},
         begun,
         [begun = scales.narrow(0, scales.size(0) - begun.size(), begun.size())] { return begun; }});
}

/// Adds the whole tensor on the first rank that shares states, and nothing on the others.
void StateFile::add_whole(const std::string& name, const std::vector<int64_t>& shape,
                          const at::Tensor& values) {
    Groups* groups = parameters_.sharding_groups();
    const at::Tensor bytes = as_bytes(values.reshape({-1}));
    const int64_t adds = groups == nullptr || groups->shard().rank() == 0 ? bytes.size(0) : 0;
    entries_.push_back({{name, dtype_of(values.scalar_type()), shape},
                        {0, adds},
                        [own = bytes.narrow(0, 0, adds)] { return own; }});
}

/// Returns the whole tensor on every rank that shares states: each rank copies its bytes into a zeroed
/// buffer, and an all-reduce sum joins them.
at::Tensor StateFile::whole(const Entry& entry) {
    Groups* groups = parameters_.sharding_groups();
    if (groups == nullptr) return entry.bytes().cpu();
    const at::Device device = parameters_.device();
    at::Tensor bytes = at::zeros({entry.info.bytes()}, at::TensorOptions().dtype(at::kByte).device(device));
    bytes.narrow(0, entry.own.begin, entry.own.size()).copy_(entry.bytes());
    groups->shard().all_reduce(bytes).wait();
    return bytes.cpu();
}

std::optional<WrittenFile> StateFile::write(const std::filesystem::path& file) {
    std::unique_ptr<SafetensorsWriter> writer;
    if (writes_) {
        std::vector<TensorInfo> infos;
        for (const Entry& entry : entries_) infos.push_back(entry.info);
        writer = std::make_unique<SafetensorsWriter>(file, infos);
    }
    for (const Entry& entry : entries_) {
        const at::Tensor bytes = whole(entry);
        if (writer) writer->write(bytes.const_data_ptr(), bytes.nbytes());
    }
    if (!writer) return std::nullopt;
    return writer->finish();
}

void read_state(const SafetensorsFile& file, const Parameters& parameters, const std::string& name,
                size_t parameter, StoredState& state) {
    const std::string& of = parameters.shapes()[parameter].name;
    const FlatRange own = parameters.own_elements(parameter);
    at::Tensor stored = at::empty({state.in_codes() ? state.book().bytes_of(own.size()) : own.size()},
                                  at::TensorOptions().dtype(state.dtype()));
    read_bytes(file, name + "." + of, stored, bytes_of(state, own).begin);
    state.restore(stored);
    if (!state.in_codes()) return;
    read_bytes(file, scales_of(name) + "." + of, state.scales(),
               state.first_block() * static_cast<int64_t>(sizeof(float)));
}

void read_whole(const SafetensorsFile& file, const std::string& name, at::Tensor& values) {
    at::Tensor flat = values.view({-1});
    read_bytes(file, name, flat, 0);
}

}  // namespace ringmaster
