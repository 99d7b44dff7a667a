#include "engine/config/edit.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "engine/config/document.h"
#include "engine/config/finding_record.h"
#include "engine/config/key_reader.h"
#include "engine/config/keys.h"
#include "engine/config/sections.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

using nlohmann::json;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void refuse(const std::string& key, const std::string& why) {
    throw Error(Failure::Refused, Code("CONFIG-EDIT"), why, key, "edit the line by hand");
}

/// Holds the place of a key on its line, as offsets into the text.
struct Place {
    size_t line_begin = 0, line_end = 0;  ///< line_end excludes the line break
    size_t key_begin = 0, key_end = 0;    ///< includes quotes
    /// The value without surrounding spaces; value_begin equals value_end if it is empty.
    size_t value_begin = 0, value_end = 0;
    bool starts_line = true;  ///< only spaces precede the key
};

/// Returns older names with the same meaning as `key`, which must not occur together with it.
std::vector<std::string> twins_of(const std::string& key) {
    if (key == "context_parallel_size") return {"sequence_parallel_degree"};
    if (key == "attn_implementation") return attention_flags();
    return {};
}

/// Returns the keys after which a new key is inserted, the nearest first.
std::vector<std::string> relatives_of(const std::string& key) {
    static const std::vector<std::vector<std::string>> groups = {
        {"sequence_len", "context_parallel_size", "sequence_parallel_degree", "ulysses_size",
         "ring_attn_func", "heads_k_stride", "dp_shard_size", "dp_replicate_size", "expert_parallel_size",
         "attn_implementation"},
        {"batch_size", "micro_batch_size", "gradient_accumulation_steps", "gradient_checkpointing"},
        {"bf16", "bfloat16", "fp16", "gradient_checkpointing", "selective_checkpointing",
         "activation_offloading", "tiled_mlp", "tiled_mlp_num_shards", "sequence_chunks"},
        {"base_model", "reinit_weights"},
        {"sample_packing", "pad_to_sequence_len"}};
    std::vector<std::string> relatives;
    for (const auto& group : groups) {
        const auto at = std::find(group.begin(), group.end(), key);
        if (at == group.end()) continue;
        relatives.insert(relatives.end(), std::make_reverse_iterator(at), group.rend());
        relatives.insert(relatives.end(), at + 1, group.end());
    }
    return relatives;
}

std::string last_part(const std::string& key) {
    return key.substr(key.rfind('.') + 1);
}

size_t begin_of_line(std::string_view text, int line) {
    size_t at = 0;
    for (int i = 1; i < line; ++i) {
        at = text.find('\n', at);
        if (at == text.npos) return text.npos;
        ++at;
    }
    return at;
}

/// Returns the end of a plain value, before any comment: a # after a space begins a comment.
size_t end_of_plain(std::string_view text, size_t begin, size_t line_end) {
    size_t end = line_end;
    for (size_t i = begin; i < line_end; ++i) {
        if (text[i] == '#' && (i == begin || text[i - 1] == ' ' || text[i - 1] == '\t')) {
            end = i;
            break;
        }
    }
    while (end > begin && (text[end - 1] == ' ' || text[end - 1] == '\t')) --end;
    return end;
}

/// Returns the position after the closing quote, or npos if it is on another line.
size_t end_of_quoted(std::string_view text, size_t begin, size_t line_end) {
    const char quote = text[begin];
    for (size_t i = begin + 1; i < line_end; ++i) {
        if (quote == '"' && text[i] == '\\') {
            ++i;
        } else if (text[i] == quote) {
            if (quote == '\'' && i + 1 < line_end && text[i + 1] == '\'') {
                ++i;
            } else {
                return i + 1;
            }
        }
    }
    return text.npos;
}

/// Finds the key on the line that begins at `begin`: at the beginning of the line, or after list dashes.
std::optional<Place> place_on_line(std::string_view text, size_t begin, const std::string& name) {
    Place place;
    place.line_begin = begin;
    place.line_end = std::min(text.find('\n', begin), text.size());
    if (place.line_end > begin && text[place.line_end - 1] == '\r') --place.line_end;
    size_t at = begin;
    if (begin == 0 && text.starts_with(kByteOrderMark)) at = place.line_begin = kByteOrderMark.size();
    const auto skip_spaces = [&] {
        while (at < place.line_end && (text[at] == ' ' || text[at] == '\t')) ++at;
    };
    skip_spaces();
    while (at + 1 < place.line_end && text[at] == '-' && text[at + 1] == ' ') {
        place.starts_line = false;
        ++at;
        skip_spaces();
    }
    place.key_begin = at;
    for (const std::string& form : {name, '"' + name + '"', '\'' + name + '\''}) {
        if (text.substr(at, form.size()) == form) place.key_end = at + form.size();
    }
    if (place.key_end == 0) return std::nullopt;
    at = place.key_end;
    skip_spaces();
    if (at >= place.line_end || text[at] != ':') return std::nullopt;
    ++at;
    const size_t behind_colon = at;
    skip_spaces();
    if (at == behind_colon && at < place.line_end) return std::nullopt;
    place.value_begin = at;
    if (at < place.line_end && (text[at] == '"' || text[at] == '\'')) {
        place.value_end = end_of_quoted(text, at, place.line_end);
        if (place.value_end == text.npos) return std::nullopt;
    } else {
        place.value_end = end_of_plain(text, at, place.line_end);
    }
    if (place.value_end == place.value_begin) place.value_begin = place.value_end = behind_colon;
    return place;
}

/// Holds a text with its values and their lines.
struct Sheet {
    std::string text;
    Document document;

    explicit Sheet(std::string_view from, const std::string& key) : text(from) {
        Diagnostics problems;
        if (!read_document(text, document, problems)) {
            refuse(key,
                   "the text is not valid YAML" + (problems.empty() ? "" : ": " + problems.front().message));
        }
    }

    bool holds(const std::string& key) const { return document.lines.count(key) > 0; }

    std::optional<Place> place(const std::string& key) const {
        const auto line = document.lines.find(key);
        if (line == document.lines.end() || line->second < 1) return std::nullopt;
        const size_t begin = begin_of_line(text, line->second);
        if (begin == text.npos) return std::nullopt;
        return place_on_line(text, begin, last_part(key));
    }

    std::string line_end() const {
        const size_t first = text.find('\n');
        return first != text.npos && first > 0 && text[first - 1] == '\r' ? "\r\n" : "\n";
    }
};

json* reach(json& root, const std::string& key) {
    json* at = &root;
    for (size_t begin = 0; begin <= key.size();) {
        const size_t end = std::min(key.find('.', begin), key.size());
        const std::string part = key.substr(begin, end - begin);
        if (at->is_array()) {
            if (part.empty() || part.size() > 6 ||
                !std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); }) ||
                std::stoul(part) >= at->size())
                return nullptr;
            at = &(*at)[std::stoul(part)];
        } else if (at->is_object()) {
            at = &(*at)[part];
        } else {
            return nullptr;
        }
        begin = end + 1;
    }
    return at;
}

void erase(json& root, const std::string& key) {
    const size_t dot = key.rfind('.');
    json* parent = dot == std::string::npos ? &root : reach(root, key.substr(0, dot));
    if (parent && parent->is_object()) parent->erase(last_part(key));
}

/// Returns whether the text reads as `expected`, that is, whether nothing but the wanted value changed.
bool reads_as(const std::string& text, const json& expected) {
    Document document;
    Diagnostics problems;
    return read_document(text, document, problems) && document.values == expected;
}

std::string without_line(const std::string& text, const Place& place) {
    size_t end = std::min(text.find('\n', place.line_end), text.size());
    if (end < text.size()) ++end;
    return text.substr(0, place.line_begin) + text.substr(end);
}

/// Returns true if the line continues the value of a key indented by `indent`: it is indented further, or it
/// is an item of the key's list.
bool continues_value(std::string_view line, size_t indent) {
    const size_t first = line.find_first_not_of(' ');
    if (first == line.npos) return false;
    return first > indent || (first == indent && line.substr(first).starts_with("- "));
}

/// Returns the end of the lines of a key's value below its own line; comments after the value do not count.
size_t end_of_block(const std::string& text, const Place& place) {
    const size_t indent = place.key_begin - place.line_begin;
    size_t end = std::min(text.find('\n', place.line_end), text.size());
    end = std::min(end + 1, text.size());
    for (size_t begin = end; begin < text.size();) {
        const size_t next = std::min(text.find('\n', begin), text.size() - 1) + 1;
        std::string_view line(text.data() + begin, next - begin);
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
        const size_t first = line.find_first_not_of(' ');
        const bool is_blank = first == line.npos || line[first] == '#';
        if (!is_blank && !continues_value(line, indent)) break;
        if (!is_blank) end = next;
        begin = next;
    }
    return end;
}

/// Returns the text without the key's line and the lines of its value.
std::string without_block(const std::string& text, const Place& place) {
    return text.substr(0, place.line_begin) + text.substr(end_of_block(text, place));
}

/// Returns the text without the key in "- path: a"; the item's next key moves after the dash.
std::string without_first_of_item(const std::string& text, const Place& place) {
    const size_t end = text.find('\n', place.line_end);
    const size_t next = end == text.npos ? text.npos : text.find_first_not_of(' ', end + 1);
    return next == text.npos ? text : text.substr(0, place.key_begin) + text.substr(next);
}

/// Returns a value in flow style, on one line.
std::string in_brackets(const json& value) {
    if (!value.is_structured()) return one_line_of(value);
    std::string text;
    for (const auto& [name, item] : value.items()) {
        text += text.empty() ? "" : ", ";
        text += value.is_object() ? one_line_of(json(name)) + ": " : "";
        text += in_brackets(item);
    }
    return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// Returns the nearest enclosing key that the file names, if its value is written between brackets on one
/// line; else an empty string.
std::string holder_in_brackets(const Sheet& sheet, const std::string& key) {
    std::string holder = key;
    for (size_t dot; (dot = holder.rfind('.')) != std::string::npos;) {
        holder.resize(dot);
        const auto place = sheet.place(holder);
        if (!place) continue;
        const char first = sheet.text[place->value_begin];
        return first == '{' || first == '[' ? holder : "";
    }
    return "";
}

/// Returns true if the key begins its line, so that the whole line can be removed.
bool is_whole_line(const Place& place) {
    return place.starts_line;
}

std::string with_value(const Sheet& sheet, const Place& place, const std::string& name,
                       const std::string& value) {
    const std::string& text = sheet.text;
    const bool empty = place.value_begin == place.value_end;
    const std::string old_key = text.substr(place.key_begin, place.key_end - place.key_begin);
    const std::string key = old_key.find(name) == std::string::npos ? name : old_key;
    return text.substr(0, place.key_begin) + key +
           text.substr(place.key_end, place.value_begin - place.key_end) + (empty ? " " : "") + value +
           text.substr(place.value_end);
}

/// Replaces a value that is written on the lines below its key by `value` on the key's line.
std::string with_value_of_block(const Sheet& sheet, const Place& place, const std::string& value) {
    const std::string& text = sheet.text;
    const size_t next = std::min(text.find('\n', place.line_end), text.size() - 1) + 1;
    return text.substr(0, place.value_begin) + " " + value +
           text.substr(place.value_end, next - place.value_end) +
           text.substr(std::max(next, end_of_block(text, place)));
}

/// Returns the positions where a new line may go; the caller takes the first one at which the new text reads
/// back correctly.
std::vector<size_t> insertion_points(const Sheet& sheet, const std::string& key) {
    std::vector<size_t> points;
    const std::string& text = sheet.text;
    for (const std::string& relative : relatives_of(key)) {
        const auto place = sheet.place(relative);
        if (place && is_whole_line(*place)) {
            points.push_back(std::min(text.find('\n', place->line_end), text.size() - 1) + 1);
        }
    }
    size_t end = text.size();
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == '\r' || text[end - 1] == ' ')) --end;
    const size_t line = text.find('\n', end);
    points.push_back(line == text.npos ? text.size() : line + 1);
    points.push_back(text.size());
    return points;
}

std::string inserted_at(const Sheet& sheet, size_t at, const std::string& line) {
    const std::string& text = sheet.text;
    const std::string end = sheet.line_end();
    const bool behind_open_line = at == text.size() && !text.empty() && text.back() != '\n';
    if (behind_open_line) return text + end + line;
    return text.substr(0, at) + line + end + text.substr(at);
}

std::string insert_top_level(const Sheet& sheet, const std::string& key, const std::string& value,
                             const json& expected) {
    for (const size_t at : insertion_points(sheet, key)) {
        std::string edited = inserted_at(sheet, at, key + ": " + value);
        if (reads_as(edited, expected)) return edited;
    }
    refuse(key, "there is no place for a new line");
}

/// Inserts the key before the first key of its mapping, with that key's indentation.
std::string insert_nested(const Sheet& sheet, const std::string& key, const std::string& value,
                          const json& expected) {
    const std::string prefix = key.substr(0, key.rfind('.') + 1);
    std::optional<Place> first;
    for (auto at = sheet.document.lines.lower_bound(prefix);
         at != sheet.document.lines.end() && at->first.starts_with(prefix); ++at) {
        if (at->first.find('.', prefix.size()) != std::string::npos) continue;
        const auto place = sheet.place(at->first);
        if (place && place->starts_line && (!first || place->line_begin < first->line_begin)) first = place;
    }
    if (!first) refuse(key, "there is no mapping that it could be put into");
    const std::string indent = sheet.text.substr(first->line_begin, first->key_begin - first->line_begin);
    std::string edited = inserted_at(sheet, first->line_begin, indent + last_part(key) + ": " + value);
    if (!reads_as(edited, expected)) refuse(key, "there is no place for a new line");
    return edited;
}

json one_line_value(const std::string& key, const std::string& value) {
    json read;
    Diagnostics problems;
    const bool one_line = value.find_first_of("\r\n") == std::string::npos;
    if (!one_line || !read_value(value, read, problems) || has_error(problems)) {
        refuse(key, "'" + printable(value) + "' is not one line of YAML");
    }
    return read;
}

}  // namespace

std::string set_key(std::string_view text, const std::string& key, const std::string& value) {
    Sheet sheet(text, key);
    json expected = sheet.document.values;
    std::string line_of = key;  // the key whose line is reused
    for (const std::string& twin : twins_of(key)) {
        if (!sheet.holds(twin)) continue;
        expected.erase(twin);
        if (line_of == key && !sheet.holds(key)) {
            line_of = twin;
            continue;
        }
        const auto place = sheet.place(twin);
        if (!place || !is_whole_line(*place)) refuse(twin, "it stands on a line with other things");
        sheet = Sheet(without_line(sheet.text, *place), key);
    }
    const json wanted = one_line_value(key, value);
    json* target = reach(expected, key);
    if (!target) refuse(key, "it names no place of this file");
    *target = wanted;
    if (const std::string holder = holder_in_brackets(sheet, key); !holder.empty())
        return set_key(sheet.text, holder, in_brackets(*reach(expected, holder)));
    if (!sheet.holds(line_of)) {
        return key.find('.') == std::string::npos ? insert_top_level(sheet, key, value, expected)
                                                  : insert_nested(sheet, key, value, expected);
    }
    const auto place = sheet.place(line_of);
    if (!place) refuse(key, "it does not stand on a line of its own");
    std::string edited = with_value(sheet, *place, last_part(key), value);
    const bool is_block = place->starts_line && place->value_begin == place->value_end;
    if (is_block && line_of == key && !reads_as(edited, expected))
        edited = with_value_of_block(sheet, *place, value);
    if (!reads_as(edited, expected)) refuse(key, "its value takes more than one line, or is used elsewhere");
    return edited;
}

std::string set_keys(std::string_view text, const std::vector<std::pair<std::string, std::string>>& set) {
    std::string edited(text);
    for (const auto& [key, value] : set) edited = set_key(edited, key, value);
    return edited;
}

std::string remove_key(std::string_view text, const std::string& key) {
    const Sheet sheet(text, key);
    json expected = sheet.document.values;
    erase(expected, key);
    if (const std::string holder = holder_in_brackets(sheet, key); !holder.empty())
        return set_key(text, holder, in_brackets(*reach(expected, holder)));
    const auto place = sheet.place(key);
    if (!place) refuse(key, "it does not stand on a line of its own");
    std::string edited =
        is_whole_line(*place) ? without_line(sheet.text, *place) : without_first_of_item(sheet.text, *place);
    if (!reads_as(edited, expected) && is_whole_line(*place)) edited = without_block(sheet.text, *place);
    if (!reads_as(edited, expected)) refuse(key, "its value is used elsewhere, or shares a line");
    return edited;
}

std::string rename_key(std::string_view text, const std::string& key, const std::string& name) {
    const Sheet sheet(text, key);
    const auto place = sheet.place(key);
    if (!place) refuse(key, "it does not stand on a line of its own");
    const size_t dot = key.rfind('.');
    const std::string renamed = dot == std::string::npos ? name : key.substr(0, dot + 1) + name;
    if (sheet.holds(renamed)) refuse(key, renamed + " is there already");
    json expected = sheet.document.values;
    const json* value = reach(expected, key);
    if (!value) refuse(key, "it names no place of this file");
    const json kept = *value;
    erase(expected, key);
    *reach(expected, renamed) = kept;
    std::string edited = sheet.text.substr(0, place->key_begin) + name + sheet.text.substr(place->key_end);
    if (!reads_as(edited, expected)) refuse(key, "it cannot be renamed where it stands");
    return edited;
}

std::string apply_fix(std::string_view text, const Fix& fix) {
    if (const Edit* renamed = renaming_of(fix)) {
        const std::string& old_name = fix.edits.front().key;
        std::string edited = rename_key(text, old_name, last_part(renamed->key));
        const Sheet sheet(edited, renamed->key);
        const json* value = sheet.document.find(renamed->key);
        const bool keeps_value = renamed->value.empty() || !value || one_line_of(*value) == renamed->value;
        return keeps_value ? edited : set_key(edited, renamed->key, renamed->value);
    }
    std::string edited(text);
    for (const Edit& edit : fix.edits)
        edited = edit.remove ? remove_key(edited, edit.key) : set_key(edited, edit.key, edit.value);
    return edited;
}

}  // namespace ringmaster
