#include "engine/config/accelerate.h"

#include <algorithm>

#include "engine/config/key_reader.h"
#include "engine/config/keys.h"
#include "engine/config/paths.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

class Importer {
  public:
    Importer(const Document& accelerate, const AccelerateSource& source, Document& config,
             Diagnostics& diagnostics)
        : m_keys(accelerate, diagnostics),
          m_source(source),
          m_config(config),
          m_config_keys(config, diagnostics) {}

    AccelerateImport import() {
        import_processes();
        import_distribution();
        import_sizes();
        import_precision();
        return m_import;
    }

  private:
    /// Returns the key of a size, with or without accelerate's long prefix.
    std::string size_path(const std::string& name) const {
        const std::string plain = "parallelism_config." + name;
        return m_keys.has(plain) ? plain : "parallelism_config.parallelism_config_" + name;
    }

    /// Returns the key as a user writes it.
    std::string key_of(const std::string& name) const {
        const std::string path = size_path(name);
        return path.substr(path.rfind('.') + 1);
    }

    std::optional<int64_t> size(const std::string& name) {
        return m_keys.whole(size_path(name), {1, kMostRanks});
    }

    void import_processes() {
        if (const json* said = m_keys.find("num_processes"); said && *said != -1) {
            m_import.ranks = m_keys.whole("num_processes", {1, kMostRanks});
        }
        m_import.nodes = m_keys.whole("num_machines", {1, kMostRanks});
    }

    void import_distribution() {
        const std::vector<std::string> known{"no",        "MULTI_CPU",   "MULTI_GPU", "MULTI_NPU",
                                             "MULTI_MLU", "MULTI_XPU",   "MULTI_HPU", "DEEPSPEED",
                                             "FSDP",      "MEGATRON_LM", "XLA",       "NO"};
        m_distribution = m_keys.word("distributed_type", known).value_or("");
        if (m_distribution == "DEEPSPEED") import_deepspeed();
        if (m_distribution == "FSDP") {
            const json* options = m_keys.find("fsdp_config");
            m_import.zero_stage = fsdp_stage(options && options->is_object() ? *options : json::object());
        }
        if (m_distribution == "MEGATRON_LM") {
            m_keys.error(Form("KEY-UNSUPPORTED", "megatron"), "distributed_type");
        }
    }

    void import_deepspeed() {
        constexpr int kAcceleratesDefault = 2;
        if (m_keys.has("deepspeed_config.zero_stage")) {
            const auto stage = m_keys.whole("deepspeed_config.zero_stage", {0, 3});
            if (stage) m_import.zero_stage = static_cast<int>(*stage);
        } else if (const auto file = m_keys.text("deepspeed_config.deepspeed_config_file")) {
            import_deepspeed_file(absolute_path(m_source.base_dir, *file));
        } else {
            m_import.zero_stage = kAcceleratesDefault;
        }
        for (const char* key : {"gradient_accumulation_steps", "max_grad_norm"}) {
            const std::string theirs = std::string("deepspeed_config.") +
                                       (std::string_view(key) == "max_grad_norm" ? "gradient_clipping" : key);
            const json* value = m_keys.find(theirs);
            if (m_source.alone && value && !(value->is_string() && *value == "auto")) {
                put(m_config, key, *value, m_keys.document().line(theirs));
            }
        }
    }

    void import_deepspeed_file(const std::string& path) {
        const std::string key = "deepspeed_config.deepspeed_config_file";
        std::string problem;
        m_import.zero_stage = deepspeed_file_stage(path, problem);
        if (problem.empty()) return;
        // A warning is enough: the stage only decides how states are sharded, which changes memory use but no
        // result of training.
        m_keys.warn(Form("ACC-DEEPSPEED", "file"), key,
                    {{"problem", problem}, {"folder", m_source.base_dir}});
    }

    void import_sizes() {
        const json* sizes = m_keys.find("parallelism_config");
        if (!sizes) return;
        if (!sizes->is_object()) {
            return m_keys.error(Form("CFG-TYPE", "mapping-only"), "parallelism_config",
                                {{"value", shown(*sizes)}});
        }
        const auto replicas = size("dp_replicate_size");
        const auto shards = size("dp_shard_size");
        if (replicas) override_with("dp_replicate_size", *replicas, size_path("dp_replicate_size"));
        if (shards) override_with("dp_shard_size", *shards, size_path("dp_shard_size"));
        if (const auto tensor = size("tp_size"); tensor && *tensor > 1) {
            m_keys.error(Form("KEY-UNSUPPORTED", "tensor-parallel"), size_path("tp_size"),
                         {{"size", *tensor}});
        }
        import_context_parallel();
        import_backends();
        check_replicas(replicas.value_or(1), shards.value_or(1));
        check_product(replicas.value_or(1), shards.value_or(1));
    }

    void import_context_parallel() {
        const auto cp = size("cp_size");
        const auto sp = size("sp_size");
        m_ring = cp.value_or(1);
        m_all_to_all = sp.value_or(1);
        if (m_ring > 1 && m_all_to_all > 1) {
            m_keys.error(
                Form("ACC-EXCLUSIVE"), size_path("sp_size"),
                {{"ring", m_ring}, {"all_to_all", m_all_to_all}, {"product", m_ring * m_all_to_all}});
            return;
        }
        if (!cp && !sp) return;
        const std::string from = size_path(m_all_to_all > 1 || !cp ? "sp_size" : "cp_size");
        override_with("context_parallel_size", std::max(m_ring, m_all_to_all), from);
        override_with("ulysses_size", m_all_to_all, from);
        import_length();
    }

    /// Reads sp_seq_length, to which every batch is padded if the length is not variable.
    void import_length() {
        const std::string path = size_path("sp_seq_length");
        const auto length = m_keys.whole(path);
        const bool variable = m_keys.flag(size_path("sp_seq_length_is_variable")).value_or(true);
        if (variable) return;
        const int64_t size = std::max(m_ring, m_all_to_all);
        if (!m_keys.has(path)) {
            m_keys.error(Form("ACC-SEQ-LENGTH", "missing"), path,
                         {{"length_key", key_of("sp_seq_length")}, {"size", size}});
        } else if (length && *length % size != 0) {
            const int64_t below = *length / size * size;
            m_keys.error(Form("ACC-SEQ-LENGTH", below > 0 ? "odd" : "short"), path,
                         {{"length_key", key_of("sp_seq_length")},
                          {"size_key", m_all_to_all >= m_ring ? "sp_size" : "cp_size"},
                          {"size", size},
                          {"length", *length},
                          {"below", below},
                          {"above", below + size}});
        } else if (length) {
            m_import.fixed_length = *length;
            check_rows_fit(path, *length);
        }
    }

    void check_rows_fit(const std::string& path, int64_t length) {
        const json* rows = m_config.find("sequence_len");
        if (!rows) {
            put(m_config, "sequence_len", length, m_keys.document().line(path));
        } else if (rows->is_number_integer() && *rows > length) {
            m_keys.error(Form("ACC-SEQ-LENGTH", "rows"), path, {{"length", length}, {"rows", shown(*rows)}});
        }
    }

    void import_backends() {
        for (const auto& [name, only] :
             {std::pair{"cp_backend", "torch"}, std::pair{"sp_backend", "deepspeed"}}) {
            const auto said = m_keys.text(size_path(name));
            if (said && *said != only) {
                m_keys.warn(Form("ACC-BACKEND", "backend"), size_path(name),
                            {{"name", name}, {"only", only}, {"value", *said}, {"name_key", key_of(name)}});
            }
        }
        if (const auto strategy = m_keys.text(size_path("cp_comm_strategy"))) {
            m_keys.inform(Form("ACC-NO-EFFECT"), size_path("cp_comm_strategy"), {{"value", *strategy}});
        }
        if (const auto attention = m_keys.text(size_path("sp_attn_implementation"))) {
            import_attention(*attention);
        }
        check_engines();
    }

    void import_attention(const std::string& attention) {
        const std::string path = size_path("sp_attn_implementation");
        const std::vector<std::string> known{"flash_attention_2", "flash_attention_3", "sdpa"};
        if (std::find(known.begin(), known.end(), attention) == known.end() &&
            attention.find("flash-attn") == std::string::npos) {
            m_keys.warn(Form("ACC-BACKEND", "attention"), path,
                        {{"value", attention}, {"name_key", key_of("sp_attn_implementation")}});
        }
        const std::vector<std::string> flags = attention_flags();
        const bool said = m_config.find("attn_implementation") ||
                          std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
                              return m_config.find(flag) != nullptr;
                          });
        if (!said) {
            put(m_config, "attn_implementation", attention, m_keys.document().line(path));
        }
    }

    /// Warns if the file does not choose the backend that accelerate's method needs: FSDP 2 for cp_size,
    /// DeepSpeed for sp_size.
    void check_engines() {
        if (m_distribution.empty()) return;
        const json* version = m_keys.find("fsdp_config.fsdp_version");
        const bool fsdp2 = m_distribution == "FSDP" && version && (*version == 2 || *version == "2");
        if (m_ring > 1 && !fsdp2) {
            m_keys.warn(Form("ACC-FSDP2"), size_path("cp_size"));
        }
        if (m_all_to_all > 1 && m_distribution != "DEEPSPEED") {
            m_keys.warn(Form("ACC-DEEPSPEED", "type"), size_path("sp_size"));
        }
    }

    void check_replicas(int64_t replicas, int64_t shards) {
        if (m_ring <= 1 || replicas <= 1 || shards > 1) return;
        m_keys.warn(Form("ACC-REPLICAS"), size_path("dp_replicate_size"),
                    {{"replicas", replicas},
                     {"shards", shards},
                     {"replicate_key", key_of("dp_replicate_size")},
                     {"shard_key", key_of("dp_shard_size")}});
    }

    /// Reports, as a note, that accelerate's guide contradicts itself about these sizes. The rule about the
    /// product of the sizes applies.
    void check_product(int64_t replicas, int64_t shards) {
        if (m_all_to_all <= 1 || shards <= 1) return;
        const int64_t product = replicas * shards * m_all_to_all;
        if (m_import.ranks ? product == *m_import.ranks : shards != m_all_to_all) return;
        m_keys.inform(Form("ACC-PRODUCT"), size_path("dp_shard_size"),
                      {{"replicas", replicas},
                       {"shards", shards},
                       {"all_to_all", m_all_to_all},
                       {"product", product},
                       {"shard_key", key_of("dp_shard_size")}});
    }

    void import_precision() {
        const auto said = m_keys.word("mixed_precision", {"no", "bf16", "fp16", "fp8"});
        if (!said || *said == "no") return;
        for (const char* key : {"bf16", "bfloat16", "fp16", "float16"}) {
            if (m_config.find(key)) return;  // the training file takes precedence
        }
        if (*said == "bf16" || *said == "fp16") {
            put(m_config, *said, true, m_keys.document().line("mixed_precision"));
        } else {
            m_keys.error(Form("KEY-UNSUPPORTED", "mixed"), "mixed_precision", {{"value", *said}});
        }
    }

    /// Replaces the size in the training file, and reports the change if the two differ.
    void override_with(const std::string& key, int64_t value, const std::string& from) {
        const bool old_name = key == "context_parallel_size" && m_config.find("sequence_parallel_degree");
        const std::string there = old_name ? "sequence_parallel_degree" : key;
        const json* before = m_config.find(there);
        if (before && *before != value) {
            m_config_keys.inform(
                Form("ACC-OVERRIDES"), there,
                {{"before", shown(*before)}, {"value", value}, {"from", from}, {"file", m_source.name}});
        }
        if (old_name) m_config.values["sequence_parallel_degree"] = value;
        if (!old_name || m_config.find(key))
            put(m_config, key, value, m_source.alone ? m_keys.document().line(from) : 0);
    }

    KeyReader m_keys;
    const AccelerateSource& m_source;
    Document& m_config;
    KeyReader m_config_keys;
    AccelerateImport m_import;
    std::string m_distribution;
    int64_t m_ring = 1;
    int64_t m_all_to_all = 1;
};

}  // namespace

AccelerateImport import_accelerate(const Document& accelerate, const AccelerateSource& source,
                                   Document& config, Diagnostics& diagnostics) {
    return Importer(accelerate, source, config, diagnostics).import();
}

void say_plan_only(const Document& config, Diagnostics& diagnostics) {
    std::vector<std::string> missing;
    for (const char* key :
         {"base_model", "datasets", "sequence_len", "micro_batch_size", "learning_rate", "output_dir"}) {
        if (!config.find(key)) missing.emplace_back(key);
    }
    diagnostics.push_back(finding(Severity::Info, Form("ACC-PLAN-ONLY", missing.empty() ? "" : "missing"), "",
                                  0, {{"missing", listed(missing)}}));
}

}  // namespace ringmaster
