/// The one place that decides what a node may send: names, offsets, sizes, paths. Pure parsers with limits,
/// of text that a node may have made to do harm. (Its run.json and events: engine/events; its facts: facts.h;
/// the runs on it: anywhere/runs_there.h.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// Of what `ringmaster-agent --follow` prints.
struct FollowFrame {
    enum class Kind { File, State, Beat, Over };
    Kind kind = Kind::Beat;
    std::string file = {};   ///< a name of the record
    int64_t offset = 0;      ///< of `bytes` in it
    std::string bytes = {};  ///< what the file goes on with, or run.json's text
};

/// Cuts the follower's output into frames:
///
///     file NAME OFFSET SIZE\n and SIZE bytes      state SIZE\n and SIZE bytes      beat\n      over\n
///
/// A file has to be one of `record`, by name and bytes that are here, and goes on where it ends here. A head
/// has 256 bytes at most, what follows it 4 MiB. Afterwards the parser is of no more use.
class FollowFrames {
  public:
    explicit FollowFrames(std::map<std::string, int64_t> record) : record_(std::move(record)) {}

    void take(std::string_view bytes);

    /// Empty where none is whole yet. Throws Error(Refused) for what is no frame.
    std::optional<FollowFrame> next();

  private:
    FollowFrame head_of(std::string_view line, int64_t& size);

    std::map<std::string, int64_t> record_;
    std::string pending_;
    size_t read_ = 0;  ///< of pending_
};

struct FileThere {
    std::string hash;  ///< SHA-256, 64 hexadecimal digits
    int64_t size = 0;
};

/// A folder of a node, as `sha256sum` and `wc -c` list it.
struct Manifest {
    std::map<std::string, FileThere> files;  ///< by name, none in a folder
    std::vector<std::string> left_out;  ///< names that are no part of a model or checkpoint; some of them
    int64_t bytes = 0;                  ///< of all files
};

/// `text`: lines of sha256sum, the line "sizes", lines of wc. Throws Error(Refused) for more than 4,096
/// files, a file without hash or size, or a size above 64 TiB.
Manifest parse_manifest(const std::string& text);

/// Of a model, tokenizer or checkpoint: "model-00001-of-00002.safetensors", "config.json", "complete".
/// Letters, digits and "._-", no folder, none that is hidden.
bool is_result_name(std::string_view name);

/// Steps of the folders that `ls` lists as "step-00000100", ascending; other lines are skipped.
std::vector<int64_t> parse_checkpoints(const std::string& text);

/// The address behind "meet " of node 0's agent; empty where there is none.
std::string parse_meeting(const std::string& said);

/// An absolute path without "..", control characters and more than 1,024 bytes.
bool is_node_path(std::string_view path);

/// On one line, without control characters, cut to `most` bytes.
std::string text_of_node(std::string text, size_t most = 1024);

/// The whole number that `text` is, within [least, most].
std::optional<int64_t> number_of_node(std::string_view text, int64_t least, int64_t most);

}  // namespace ringmaster
