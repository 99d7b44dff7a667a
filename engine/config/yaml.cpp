// Implements the functions of document.h that parse YAML. yaml-cpp's events become a tree, and the tree
// becomes values and lines.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "engine/config/document.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxValues = 100'000;
constexpr std::size_t kMaxKeyBytes = 256;
/// Maximum total bytes of scalars and key paths.
constexpr std::size_t kMaxExpandedBytes = std::size_t{16} << 20;
constexpr int kMaxDuplicates = 50;
constexpr int kMaxOpenBrackets = 1000;  ///< counts brackets in text too, so the limit is far above kMaxDepth

/// Exception that stops reading, so that no values are returned.
struct Refusal {
    Diagnostic diagnostic;
};

[[noreturn]] void refuse(const Form& form, int line, FindingValues parameters = {}) {
    throw Refusal{finding(Severity::Error, form, "", line, std::move(parameters))};
}

[[noreturn]] void refuse_depth(int line) {
    refuse(Form("YAML-DEPTH"), line, {{"most", kMaxDepth}});
}

struct Node;
using NodePtr = std::shared_ptr<Node>;

struct Entry {
    std::string key;
    int line = 0;
    NodePtr value;
};

struct Node {
    enum class Kind { Scalar, List, Map };
    Kind kind = Kind::Scalar;
    int line = 0;
    bool complete = true;  ///< false while the node's items are being read, because an alias to the node
                           ///< would then never end
    bool repeated = false;
    json scalar;
    std::vector<NodePtr> items;
    std::vector<Entry> entries;
};

std::string join(const std::string& path, const std::string& part) {
    return path.empty() ? part : path + '.' + part;
}

/// Builds the tree of the first document; rejects a second one.
class TreeBuilder : public YAML::EventHandler {
  public:
    TreeBuilder(std::string_view text, Diagnostics& diagnostics) : m_text(text), m_diagnostics(diagnostics) {}

    NodePtr root() const { return m_root; }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(make(mark, Node::Kind::Scalar), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = m_anchors.find(anchor);
        const int line = mark.line + 1;
        if (found == m_anchors.end()) refuse(Form("YAML-ALIAS", "missing"), line);
        if (!found->second->complete) refuse(Form("YAML-ALIAS", "loop"), line);
        found->second->repeated = true;
        place(found->second, line);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (tag == "!") require_closed_quote(mark);
        NodePtr node = make(mark, Node::Kind::Scalar);
        if (!m_frames.empty() && m_frames.back().node->kind == Node::Kind::Map && !m_frames.back().key) {
            take_key(value, node->line);
            return;
        }
        node->scalar = tagged_value(tag, value, node->line);
        add(node, anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(make(mark, Node::Kind::List), anchor);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(make(mark, Node::Kind::Map), anchor);
    }
    void OnMapEnd() override { close(); }

  private:
    /// Rejects a quote that is never closed: yaml-cpp would take the rest of the file, with all its keys, as
    /// text.
    void require_closed_quote(const YAML::Mark& mark) const {
        const auto begin = static_cast<std::size_t>(mark.pos) + (m_text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
        if (mark.pos < 0 || begin >= m_text.size()) return;
        const char quote = m_text[begin];
        if (quote != '"' && quote != '\'') return;  // the value follows an anchor
        for (std::size_t at = begin + 1; at < m_text.size(); ++at) {
            if (quote == '"' && m_text[at] == '\\') {
                ++at;
            } else if (m_text[at] == quote) {
                if (quote == '"' || m_text.substr(at + 1, 1) != "'") return;
                ++at;  // two single quotes stand for one
            }
        }
        refuse(Form("YAML-SYNTAX", "quote"), mark.line + 1, {{"quote", std::string(1, quote)}});
    }

    struct Frame {
        NodePtr node;
        std::string path;
        std::optional<std::string> key;  ///< key of a map whose value is still to come
        int key_line = 0;
        std::map<std::string, std::size_t> seen;
    };

    NodePtr make(const YAML::Mark& mark, Node::Kind kind) {
        auto node = std::make_shared<Node>();
        node->kind = kind;
        node->line = mark.line + 1;
        if (++m_count > kMaxValues) {
            refuse(Form("YAML-TOO-MANY", "values"), node->line, {{"most", int64_t(kMaxValues)}});
        }
        return node;
    }

    static json tagged_value(const std::string& tag, const std::string& text, int line) {
        if (tag == "?" || tag.empty()) return scalar_value(text);
        if (tag == "!" || tag == "tag:yaml.org,2002:str") return text;
        for (const char* plain : {"int", "float", "bool", "null"}) {
            if (tag == std::string("tag:yaml.org,2002:") + plain) return scalar_value(text);
        }
        refuse(Form("YAML-TAG"), line, {{"tag", tag}});
    }

    void take_key(const std::string& key, int line) {
        if (key.size() > kMaxKeyBytes) {
            refuse(Form("YAML-KEY", "long"), line,
                   {{"size", int64_t(key.size())}, {"most", int64_t(kMaxKeyBytes)}});
        }
        m_frames.back().key = key;
        m_frames.back().key_line = line;
    }

    void open(const NodePtr& node, YAML::anchor_t anchor) {
        if (m_frames.size() >= kMaxDepth) {
            refuse_depth(node->line);
        }
        std::string path;
        if (!m_frames.empty()) {
            const Frame& parent = m_frames.back();
            path = parent.node->kind == Node::Kind::Map
                       ? join(parent.path, parent.key.value_or(""))
                       : join(parent.path, std::to_string(parent.node->items.size()));
        }
        add(node, anchor);
        node->complete = false;
        m_frames.push_back({node, path, std::nullopt, 0, {}});
    }

    void close() {
        m_frames.back().node->complete = true;
        m_frames.pop_back();
    }

    void add(const NodePtr& node, YAML::anchor_t anchor) {
        if (anchor) m_anchors[anchor] = node;
        place(node, node->line);
    }

    void place(const NodePtr& node, int line) {
        if (m_frames.empty()) {
            m_root = node;
            return;
        }
        Frame& frame = m_frames.back();
        if (frame.node->kind == Node::Kind::List) {
            frame.node->items.push_back(node);
        } else if (!frame.key) {
            refuse(Form("YAML-KEY", "word"), line);
        } else {
            place_entry(frame, node);
        }
    }

    void place_entry(Frame& frame, const NodePtr& node) {
        const std::string key = *frame.key;
        frame.key.reset();
        auto& entries = frame.node->entries;
        const auto [seen, first] = frame.seen.emplace(key, entries.size());
        if (first) {
            entries.push_back({key, frame.key_line, node});
            return;
        }
        Entry& earlier = entries[seen->second];
        if (++m_duplicates > kMaxDuplicates) {
            refuse(Form("YAML-TOO-MANY", "duplicates"), frame.key_line, {{"most", kMaxDuplicates}});
        }
        m_diagnostics.push_back(finding(Severity::Warning, Form("CFG-DUPLICATE-KEY"), join(frame.path, key),
                                        frame.key_line, {{"name", key}, {"other_line", earlier.line}}));
        earlier = {key, frame.key_line, node};
    }

    std::string_view m_text;
    Diagnostics& m_diagnostics;
    NodePtr m_root;
    std::vector<Frame> m_frames;
    std::map<YAML::anchor_t, NodePtr> m_anchors;
    std::size_t m_count = 0;
    int m_duplicates = 0;
};

/// Counts the values of one document after aliases are expanded.
struct Expanded {
    std::size_t values = 0;
    std::size_t bytes = 0;

    /// Counts a value, and rejects it if the limit is exceeded. The bytes of key paths count too: a short
    /// file can produce very long paths by nesting long keys above a list that aliases repeat.
    void add(const Node& node, const std::string& path) {
        if (++values > kMaxValues) {
            refuse(Form("YAML-TOO-MANY", "expanded"), node.line, {{"most", int64_t(kMaxValues)}});
        }
        bytes += path.size();
        if (node.scalar.is_string()) bytes += node.scalar.get_ref<const std::string&>().size();
        if (bytes > kMaxExpandedBytes) {
            refuse(Form("YAML-SIZE", "expanded"), node.line, {{"most", int64_t(kMaxExpandedBytes >> 20)}});
        }
    }
};

/// Converts the tree to values: copies aliases (and counts them) and merges `<<`.
class Flattener {
  public:
    Flattener(std::map<std::string, int>& lines, Expanded& expanded) : m_lines(lines), m_expanded(expanded) {}

    json value_of(const Node& node, const std::string& path, int depth = 0) {
        m_expanded.add(node, path);
        if (depth > kMaxDepth) {
            refuse_depth(node.line);
        }
        if (node.kind == Node::Kind::Scalar) return node.scalar;
        if (node.kind == Node::Kind::Map) return map_of(node, path, depth);
        json list = json::array();
        for (const NodePtr& item : node.items) {
            const std::string item_path = join(path, std::to_string(list.size()));
            m_lines.emplace(item_path, item->line);
            list.push_back(value_of(*item, item_path, depth + 1));
        }
        return list;
    }

  private:
    json map_of(const Node& node, const std::string& path, int depth) {
        json map = json::object();
        for (const Entry& entry : node.entries) {
            if (entry.key == "<<") continue;
            const std::string entry_path = join(path, entry.key);
            m_lines.emplace(entry_path, entry.line);
            map[entry.key] = value_of(*entry.value, entry_path, depth + 1);
        }
        for (const Entry& entry : node.entries) {
            if (entry.key == "<<") merge(map, *entry.value, path, entry.line, depth + 1);
        }
        return map;
    }

    /// Merges `<<` into a map. The map's own values win, and earlier sources win over later ones.
    void merge(json& map, const Node& source, const std::string& path, int line, int depth) {
        if (source.kind == Node::Kind::List) {
            for (const NodePtr& item : source.items) merge(map, *item, path, line, depth + 1);
        } else if (source.kind == Node::Kind::Map) {
            std::map<std::string, int> lines;
            const json merged = Flattener(lines, m_expanded).value_of(source, path, depth);
            for (const auto& [key, value] : merged.items()) {
                if (map.emplace(key, value).second) keep_lines(lines, join(path, key));
            }
        } else {
            refuse(Form("YAML-MERGE"), line);
        }
    }

    void keep_lines(const std::map<std::string, int>& lines, const std::string& path) {
        for (auto it = lines.lower_bound(path); it != lines.end() && it->first.starts_with(path); ++it) {
            if (it->first.size() == path.size() || it->first[path.size()] == '.') m_lines.insert(*it);
        }
    }

    std::map<std::string, int>& m_lines;
    Expanded& m_expanded;  ///< shared by all values of the document
};

json flatten(const Node& root, std::map<std::string, int>& lines) {
    Expanded expanded;
    return Flattener(lines, expanded).value_of(root, "");
}

/// Returns the length of the UTF-8 sequence at `at`; 0 if it is invalid (overlong, or a surrogate).
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned lead = byte(at);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : (lead & 0xF0) == 0xE0       ? 3
                                                             : 4;
    if (length == 1) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xC0) != 0x80) return 0;
    }
    const unsigned second = byte(at + 1);
    const bool out_of_range = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                              (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
    return out_of_range ? 0 : length;
}

void check_characters(std::string_view text) {
    if (text.size() > kMaxConfigBytes) {
        refuse(Form("YAML-SIZE", "file"), 0, {{"most", int64_t(kMaxConfigBytes >> 20)}});
    }
    int line = 1;
    int open = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        if (length == 0) refuse(Form("YAML-ENCODING", "utf8"), line);
        const auto c = static_cast<unsigned char>(text[at]);
        if (c == '\n') ++line;
        if (c == '[' || c == '{') ++open;
        if ((c == ']' || c == '}') && open > 0) --open;
        // Brackets are checked here, because yaml-cpp keeps a token for each bracket before the depth can be
        // counted.
        if (open > kMaxOpenBrackets) refuse_depth(line);
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
            refuse(Form("YAML-ENCODING", "control"), line, {{"character", int64_t{c}}});
        }
        at += length;
    }
}

const char* syntax_form(std::string_view text, int line, const std::string& message) {
    std::size_t begin = 0;
    for (int i = 1; i < line && begin != std::string_view::npos; ++i) {
        begin = text.find('\n', begin);
        if (begin != std::string_view::npos) ++begin;
    }
    if (begin == std::string_view::npos) return "other";
    const std::string_view rest = text.substr(begin);
    if (rest.substr(0, rest.find_first_not_of(" \t")).find('\t') != std::string_view::npos) {
        return "tab";
    }
    if (message.find("illegal map value") != std::string::npos) return "colon";
    if (message.find("the referenced anchor is not defined") != std::string::npos) return "anchor";
    return "look";
}

NodePtr parse(std::string_view text, Diagnostics& diagnostics) {
    check_characters(text);
    std::istringstream stream{std::string(text)};
    try {
        YAML::Parser parser(stream);
        TreeBuilder builder(text, diagnostics);
        if (!parser.HandleNextDocument(builder)) return nullptr;
        NodePtr root = builder.root();
        TreeBuilder second(text, diagnostics);
        if (parser.HandleNextDocument(second)) {
            refuse(Form("YAML-DOCUMENTS", text.find("\n---") == std::string_view::npos ? "other" : "marked"),
                   second.root() ? second.root()->line : 0);
        }
        return root;
    } catch (const YAML::Exception& error) {
        const int line = error.mark.is_null() ? 0 : error.mark.line + 1;
        refuse(Form("YAML-SYNTAX", syntax_form(text, line, error.msg)), line, {{"problem", error.msg}});
    }
}

}  // namespace

std::string printable(std::string_view text) {
    std::string clean;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        const bool shows = length > 1 || (length == 1 && static_cast<unsigned char>(text[at]) >= 0x20);
        clean += shows ? text.substr(at, length) : "?";
        at += std::max<std::size_t>(length, 1);
    }
    return clean;
}

namespace {

/// Calls `take` with the root of the text. Returns false, with the reason in `diagnostics`, if it is refused.
template <typename Take>
bool take_root(std::string_view text, Diagnostics& diagnostics, const Take& take) {
    try {
        take(parse(text, diagnostics));
        return true;
    } catch (const Refusal& refusal) {
        diagnostics.push_back(refusal.diagnostic);
        return false;
    }
}

}  // namespace

bool read_document(std::string_view text, Document& document, Diagnostics& diagnostics) {
    return take_root(text, diagnostics, [&](const NodePtr& root) {
        if (!root || (root->kind == Node::Kind::Scalar && root->scalar.is_null())) {
            refuse(Form("YAML-EMPTY"), 0);
        }
        if (root->kind != Node::Kind::Map) {
            refuse(Form("YAML-NOT-A-MAPPING", root->kind == Node::Kind::List ? "list" : "value"), root->line);
        }
        document.values = flatten(*root, document.lines);
        for (const Entry& entry : root->entries) {
            if (entry.value->repeated) document.anchor_holders.insert(entry.key);
        }
    });
}

bool read_value(std::string_view text, json& value, Diagnostics& diagnostics) {
    return take_root(text, diagnostics, [&](const NodePtr& root) {
        std::map<std::string, int> lines;
        value = root ? flatten(*root, lines) : json();
    });
}

}  // namespace ringmaster
