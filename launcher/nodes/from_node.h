/// Parses and limits what a node may send: names, offsets, sizes, paths. The parsers have no side effects,
/// and assume that a node's text may be hostile. (Other parsers: engine/events for run.json and events,
/// facts.h for facts, backends/runs_there.h for lists of runs.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// A message that `ringmaster-agent --follow` prints.
struct FollowFrame {
    enum class Kind { File, State, Beat, Over };
    Kind kind = Kind::Beat;
    std::string file = {};   ///< name of the record file that grew
    int64_t offset = 0;      ///< offset of `bytes` in the file
    std::string bytes = {};  ///< bytes to append to the file, or run.json's text
};

/// Cuts the follower's output into frames:
///
///     file NAME OFFSET SIZE\n and SIZE bytes      state SIZE\n and SIZE bytes      beat\n      over\n
///
/// The file must be one of `record`, which maps names to their sizes here, and OFFSET must be its end here. A
/// head has at most 256 bytes, its content 4 MiB. After an error the parser must not be used again.
class FollowFrames {
  public:
    explicit FollowFrames(std::map<std::string, int64_t> record) : record_(std::move(record)) {}

    void take(std::string_view bytes);

    /// Returns the next frame; nullopt until one is complete. Throws Error(Refused) for an invalid frame.
    std::optional<FollowFrame> next();

  private:
    FollowFrame head_of(std::string_view line, int64_t& size);

    std::map<std::string, int64_t> record_;
    std::string pending_;
    size_t read_ = 0;  ///< bytes of pending_ already parsed
};

struct FileThere {
    std::string hash;  ///< SHA-256, 64 hexadecimal digits
    int64_t size = 0;
};

/// A folder on a node, as `sha256sum` and `wc -c` list it.
struct Manifest {
    std::map<std::string, FileThere> files;  ///< files by name; no name contains a folder
    std::vector<std::string> left_out;       ///< some names that belong to no model or checkpoint
    int64_t bytes = 0;                       ///< size of all files
};

/// Parses sha256sum's lines, the line "sizes", and wc's lines. Throws Error(Refused) for more than 4,096
/// files, a file without a size, or a size above 64 TiB.
Manifest parse_manifest(const std::string& text);

/// Returns true for file names of a model or checkpoint: "model-00001-of-00002.safetensors", "config.json",
/// "complete". They have only letters, digits and "._-", and no folder, and are not hidden.
bool is_result_name(std::string_view name);

/// Returns the steps of the folders that `ls` lists as "step-00000100", ascending; skips other lines.
std::vector<int64_t> parse_checkpoints(const std::string& text);

/// Returns the address after "meet " in the output of node 0's agent; empty if there is none.
std::string parse_meeting(const std::string& said);

/// Returns true for an absolute path of at most 1,024 bytes without ".." and control characters.
bool is_node_path(std::string_view path);

/// Returns the text on one line, without control characters, cut to `most` bytes.
std::string text_of_node(std::string text, size_t most = 1024);

/// Returns the whole number in `text` if it lies within [least, most].
std::optional<int64_t> number_of_node(std::string_view text, int64_t least, int64_t most);

}  // namespace ringmaster
