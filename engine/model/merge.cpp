#include "engine/model/merge.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "engine/error.h"
#include "engine/families/config_text.h"
#include "engine/families/peft_names.h"
#include "engine/families/score_class.h"
#include "engine/files/durable.h"
#include "engine/files/safetensors.h"
#include "engine/files/text_file.h"
#include "engine/model/dtypes.h"
#include "engine/model/quantized_base.h"
#include "engine/model/weight_files.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kPeftPrefix = "base_model.model.";
constexpr int64_t kShardBytes = 5'000'000'000;

std::vector<ParameterShape> adapters_of_experts(const ModelConfig& model, const Lora& lora) {
    std::vector<ParameterShape> shapes = lora_shapes(model, lora);
    std::erase_if(shapes, [](const ParameterShape& shape) {
        return shape.name.find(".mlp.experts.") == std::string::npos;
    });
    return shapes;
}

/// Returns the base's configuration, with a head of scores if the adapter holds such a head.
ModelConfig model_of(const Config& config, WeightFiles& adapter) {
    const ModelConfig base = read_model_config(config.model_dir);
    const std::string head = std::string(kPeftPrefix) + "score.";
    if (!adapter.has(head + "weight")) return base;
    return with_scores(base, adapter.info(head + "weight").shape.front(), adapter.has(head + "bias"));
}

class Merger {
  public:
    Merger(const Config& config)
        : config_(config),
          base_(config.model_dir, "model"),
          adapter_(config.lora.model_dir, "adapter_model"),
          model_(model_of(config, adapter_)),
          embedding_(peft_table(model_, Role::Embedding) + ".weight"),
          head_(peft_table(model_, Role::Head) + ".weight"),
          of_experts_(adapters_of_experts(model_, config.lora)),
          shapes_(as_stored(parameter_shapes(merged_model()))),
          others_(other_tensors(base_, shapes_)) {
        check_all_is_merged();
    }

    /// Writes all shards; returns each tensor's file name.
    ordered_json write(const fs::path& dir) {
        const std::vector<std::vector<size_t>> shards = shards_of_tensors();
        ordered_json weight_map = ordered_json::object();
        for (size_t s = 0; s < shards.size(); ++s) {
            char name[64] = "model.safetensors";
            if (shards.size() > 1)
                std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", s + 1, shards.size());
            write_shard(dir / name, shards[s]);
            for (const size_t i : shards[s]) weight_map[info_of(i).name] = name;
        }
        return shards.size() > 1 ? weight_map : ordered_json();
    }

    int64_t bytes() const { return bytes_; }
    const ModelConfig& model() const { return model_; }

    /// Returns whether tied weights become separate: PEFT trains and saves an adapted embedding or head
    /// separately.
    bool unties() const { return adapter_.has(whole_name(embedding_)) || adapter_.has(whole_name(head_)); }

  private:
    static std::string whole_name(const std::string& name) { return kPeftPrefix + name; }

    ModelConfig merged_model() const {
        ModelConfig model = model_;
        if (unties()) model.tie_word_embeddings = false;
        return model;
    }

    /// The part of a parameter that a tensor of the base holds.
    struct Piece {
        std::string parameter;
        int64_t part = 0, parts = 1;
    };

    /// Returns parameters with the names in the base's files, split into parts if the base stores parts.
    /// Fills pieces_.
    std::vector<ParameterShape> as_stored(const std::vector<ParameterShape>& whole) {
        std::vector<ParameterShape> shapes;
        for (const ParameterShape& shape : whole) {
            const std::vector<std::string>& parts = shape.stored.parts;
            if (!base_.is_in_parts(shape)) {
                shapes.push_back({shape.file_name(), shape.shape, shape.decays, shape.layer, shape.role});
                pieces_.push_back({shape.name});
                continue;
            }
            for (const std::string& part : parts) {
                pieces_.push_back({shape.name, &part - parts.data(), static_cast<int64_t>(parts.size())});
                shapes.push_back({part, shape.part_shape(), shape.decays, shape.layer, shape.role});
            }
        }
        return shapes;
    }

    /// Returns the change that the adapter makes to the experts' matrices in a tensor of the base
    /// (engine/model/expert_adapter.h); undefined if there is none.
    at::Tensor expert_delta(const Piece& piece) {
        const auto matrix = [&](const char* part) {
            const std::string name = whole_name(piece.parameter) + part;
            const auto found = std::find_if(of_experts_.begin(), of_experts_.end(),
                                            [&](const ParameterShape& shape) { return shape.name == name; });
            if (found == of_experts_.end()) return at::Tensor();
            adapter_.check_shape(adapter_.name_of(*found), found->shape);
            return adapter_.values_of(*found).to(at::kFloat);
        };
        const at::Tensor a_ri = matrix(".lora_A.weight"), b_or = matrix(".lora_B.weight");
        if (!a_ri.defined() || !b_or.defined()) return {};
        const int64_t experts = model_.num_experts, of_expert = std::max<int64_t>(1, piece.parts / experts);
        const at::Tensor a_eri = a_ri.view({experts, -1, a_ri.size(1)});
        const at::Tensor b_eor = b_or.view({b_or.size(0), -1, experts}).permute({2, 0, 1});
        if (piece.parts == 1) {
            const at::Tensor delta_eoi = at::matmul(b_eor, a_eri).mul_(config_.lora.scale());
            return model_.experts_transposed ? delta_eoi.transpose(1, 2) : delta_eoi;
        }
        const int64_t expert = piece.part / of_expert;
        return at::mm(b_eor[expert], a_eri[expert])
            .mul_(config_.lora.scale())
            .view({of_expert, -1, a_ri.size(1)})[piece.part % of_expert];
    }

    /// Returns the base's tensor for a weight. For a head this is the embedding if the base has no separate
    /// head.
    std::string source_name(const ParameterShape& shape) {
        const bool is_of_head = shape.role == Role::Head || shape.role == Role::HeadBias;
        return base_.name_of(is_of_head && !base_.has(shape.name) ? embedding_ : shape.name);
    }

    /// Returns the name of the adapter's tensor for a weight; `part` is "lora_A.weight", for example.
    std::string lora_name(const ParameterShape& shape, const char* part) const {
        const std::string name = whole_name(peft_name(model_, shape));
        return name.substr(0, name.rfind('.') + 1) + part;
    }

    /// Throws if the adapter has tensors other than low-rank matrices, embedding and head.
    void check_all_is_merged() {
        std::set<std::string> known;
        for (const ParameterShape& shape : shapes_) {
            for (const char* part : {"lora_A.weight", "lora_B.weight", "lora_magnitude_vector"})
                known.insert(lora_name(shape, part));
        }
        for (const ParameterShape& shape : of_experts_) known.insert(shape.file_name());
        for (const std::string& table : {embedding_, head_}) known.insert(whole_name(table));
        for (const ParameterShape& shape : shapes_)
            if (shape.role == Role::HeadBias) known.insert(whole_name(peft_name(model_, shape)));
        for (const std::string& name : adapter_.names()) {
            if (!known.contains(name))
                throw Error(Failure::Refused, Code("MODEL-WEIGHTS"),
                            "the adapter's tensor '" + name +
                                "' belongs to no weight of the model, or is of a kind that is not merged",
                            config_.lora.model_dir);
        }
    }

    bool quantizes(const ParameterShape& shape) const {
        Quantization of_modules = config_.quantization;
        of_modules.experts = false;  // merged experts keep the base's form, as in axolotl
        return of_modules.on() && (is_quantized(shape, of_modules) || is_rounded(shape, of_modules));
    }

    at::ScalarType dtype_of(const ParameterShape& shape) {
        if (quantizes(shape)) return compute_dtype_of(config_.precision);
        if (base_.is_in_codes(shape)) return at::kBFloat16;
        return base_.mapped(source_name(shape)).scalar_type();
    }

    at::Tensor base_values(const ParameterShape& shape) {
        if (base_.is_in_codes(shape)) return base_.values_of(shape).to(dtype_of(shape));
        const std::string name = source_name(shape);
        if (!quantizes(shape)) {
            base_.check_shape(name, shape.shape);
            return base_.mapped(name);
        }
        return read_rounded(base_, shape, config_.quantization, dtype_of(shape));
    }

    at::Tensor merged(size_t index) {
        const ParameterShape& shape = shapes_[index];
        if (const std::string whole = whole_name(peft_name(model_, shape)); adapter_.has(whole)) {
            adapter_.check_shape(whole, shape.shape);
            return adapter_.mapped(whole).to(dtype_of(shape));
        }
        const at::Tensor base = base_values(shape);
        if (const at::Tensor delta = expert_delta(pieces_[index]); delta.defined())
            return base.to(at::kFloat).add(delta).to(base.scalar_type());
        const std::string a = lora_name(shape, "lora_A.weight"), b = lora_name(shape, "lora_B.weight");
        const bool is_matrix = shape.shape.size() == 2 && shape.name.ends_with(".weight");
        if (!is_matrix || !adapter_.has(a) || !adapter_.has(b)) return base;  // biases do not change
        const at::Tensor delta = at::mm(adapter_.mapped(b).to(at::kFloat), adapter_.mapped(a).to(at::kFloat))
                                     .mul_(config_.lora.scale());
        if (delta.sizes() != base.sizes())
            throw Error(Failure::Refused, Code("MODEL-WEIGHTS"),
                        "the adapter's '" + a + "' is of another shape than its weight",
                        config_.lora.model_dir);
        at::Tensor sum = base.to(at::kFloat).add(delta);  // base is a read-only view of a file
        if (const std::string magnitude = lora_name(shape, "lora_magnitude_vector"); adapter_.has(magnitude))
            sum.mul_((adapter_.mapped(magnitude).to(at::kFloat) / sum.norm(2, 1)).unsqueeze(1));
        return sum.to(base.scalar_type());
    }

    /// Returns the description of a tensor to write. Weights come first, then the tensors that are copied.
    TensorInfo info_of(size_t index) {
        if (index >= shapes_.size()) return others_[index - shapes_.size()];
        return {shapes_[index].name, stored_name_of(dtype_of(shapes_[index])), shapes_[index].shape};
    }

    std::vector<std::vector<size_t>> shards_of_tensors() {
        std::vector<std::vector<size_t>> shards(1);
        int64_t filled = 0;
        for (size_t i = 0; i < shapes_.size() + others_.size(); ++i) {
            const int64_t bytes = info_of(i).bytes();
            if (filled > 0 && filled + bytes > kShardBytes) {
                shards.emplace_back();
                filled = 0;
            }
            shards.back().push_back(i);
            filled += bytes;
            bytes_ += bytes;
        }
        return shards;
    }

    void write_shard(const fs::path& path, const std::vector<size_t>& indices) {
        std::vector<TensorInfo> infos;
        for (const size_t i : indices) infos.push_back(info_of(i));
        SafetensorsWriter writer(path, infos);
        for (const size_t i : indices) {
            if (i >= shapes_.size()) {
                const std::span<const std::byte> copied = base_.bytes(info_of(i).name);
                writer.write(copied.data(), copied.size());
                continue;
            }
            const at::Tensor values = merged(i).contiguous();
            writer.write(values.data_ptr(), values.nbytes());
        }
        writer.finish();
    }

    const Config& config_;
    WeightFiles base_, adapter_;
    const ModelConfig model_;
    const std::string embedding_, head_;            ///< names of the tensors in the files
    const std::vector<ParameterShape> of_experts_;  ///< the adapter's matrices of experts
    std::vector<Piece> pieces_;                     ///< pieces_[i] describes shapes_[i]
    const std::vector<ParameterShape> shapes_;      ///< named as in the files
    const std::vector<TensorInfo> others_;          ///< tensors that are not trained
    int64_t bytes_ = 0;
};

/// Writes config.json without its quantisation settings.
void write_model_config(const Config& config, const Merger& merger, const fs::path& dir) {
    ordered_json values =
        ordered_json::parse(with_finite_numbers(read_file(fs::path(config.model_dir) / "config.json")));
    values.erase("quantization_config");
    if (merger.model().num_labels > 0)
        describe_scores(merger.model(), values);
    else if (merger.unties())
        values["tie_word_embeddings"] = false;
    if (config.quantization.on())
        values[values.contains("torch_dtype") ? "torch_dtype" : "dtype"] =
            config_name_of(compute_dtype_of(config.precision));
    write_file_durably(dir / "config.json", values.dump(2) + "\n");
}

/// Copies tokenizer and generation settings. The adapter's files take precedence, because its tokenizer may
/// have more tokens.
void copy_settings(const Config& config, const fs::path& dir) {
    for (const fs::path from : {config.lora.model_dir, config.model_dir}) {
        for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
            const std::string name = entry.path().filename().string(),
                              type = entry.path().extension().string();
            const bool is_setting = type == ".json" || type == ".model" || type == ".txt" || type == ".jinja";
            const bool is_other = name.ends_with(".index.json") || name == "config.json" ||
                                  name.starts_with("adapter_") || name == "trainer_state.json";
            if (is_setting && !is_other && entry.is_regular_file() && !fs::exists(dir / name))
                write_file_durably(dir / name, read_file(entry.path()));
        }
    }
}

}  // namespace

void merge_adapter(const Config& config, const std::string& to) {
    const at::NoGradGuard no_grad;
    if (fs::exists(to) && !(fs::is_directory(to) && fs::is_empty(to)))
        throw Error(Failure::Refused, Code("OUTPUT-OCCUPIED"), "is there already", to,
                    "name a new folder with --to");
    Merger merger(config);
    FolderAside aside(to);
    const ordered_json weight_map = merger.write(aside.path());
    if (!weight_map.is_null()) {
        const ordered_json index = {{"metadata", {{"total_size", merger.bytes()}}},
                                    {"weight_map", weight_map}};
        write_file_durably(aside.path() / "model.safetensors.index.json", index.dump(2) + "\n");
    }
    copy_settings(config, aside.path());
    write_model_config(config, merger, aside.path());
    aside.appear();
}

int run_merge(const std::string& config_file, const std::string& to) {
    try {
        merge_adapter(config_from_json(nlohmann::json::parse(read_file(config_file))), to);
        return 0;
    } catch (const Error& problem) {
        std::fprintf(stderr, "%s\n", problem.text().c_str());
        return static_cast<int>(problem.failure);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
}

}  // namespace ringmaster
