#include "launcher/base/token_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/error.h"
#include "launcher/base/bounded_file.h"

namespace ringmaster {

using nlohmann::json;

namespace {

constexpr int64_t kMostBytes = int64_t{512} << 20;
constexpr int64_t kMostTokens = int64_t{1} << 24;

enum class Writing { ByteLevel, SentencePiece, WordPiece };

/// Returns true if `part` or a part inside it has this "type". Decoders nest by a level or two.
bool has_type(const json& part, std::string_view type, int depth = 8) {
    if (part.is_object() && part.value("type", "") == type) return true;
    if (!part.is_structured() || depth == 0) return false;
    return std::ranges::any_of(part, [&](const json& inner) { return has_type(inner, type, depth - 1); });
}

Writing writing_of(const json& tokenizer) {
    const json decoder = tokenizer.value("decoder", json());
    if (has_type(decoder, "ByteLevel") || has_type(tokenizer.value("pre_tokenizer", json()), "ByteLevel"))
        return Writing::ByteLevel;
    return has_type(decoder, "WordPiece") ? Writing::WordPiece : Writing::SentencePiece;
}

/// Returns the next code point of valid UTF-8 text and advances `at`.
uint32_t next_letter(std::string_view text, size_t& at) {
    const auto first = static_cast<unsigned char>(text[at++]);
    int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    uint32_t letter = more == 0 ? first : first & (0x3Fu >> more);
    for (; more > 0 && at < text.size(); --more)
        letter = letter << 6 | (static_cast<unsigned char>(text[at++]) & 0x3Fu);
    return letter;
}

/// Returns the inverse of GPT-2's bytes_to_unicode: visible Latin-1 letters stand for themselves, the other
/// bytes for the letters from U+0100 on, in order.
const std::map<uint32_t, char>& byte_of_letter() {
    static const std::map<uint32_t, char> table = [] {
        std::map<uint32_t, char> made;
        uint32_t next = 0x100;
        for (uint32_t byte = 0; byte < 256; ++byte) {
            const bool visible =
                (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
            made[visible ? byte : next++] = static_cast<char>(byte);
        }
        return made;
    }();
    return table;
}

std::string from_byte_level(std::string_view piece) {
    std::string bytes;
    for (size_t at = 0; at < piece.size();) {
        const size_t begin = at;
        const auto found = byte_of_letter().find(next_letter(piece, at));
        if (found == byte_of_letter().end())
            bytes += piece.substr(begin, at - begin);
        else
            bytes += found->second;
    }
    return bytes;
}

/// Returns the byte of a piece such as "<0x0A>".
std::optional<char> byte_piece(std::string_view piece) {
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
    uint8_t byte = 0;
    const char* end = piece.data() + 5;
    const auto [stop, problem] = std::from_chars(piece.data() + 3, end, byte, 16);
    return problem == std::errc() && stop == end ? std::optional(static_cast<char>(byte)) : std::nullopt;
}

std::string from_sentence_piece(std::string_view piece) {
    constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581
    if (const auto byte = byte_piece(piece)) return {*byte};
    std::string text;
    while (!piece.empty()) {
        const bool space = piece.starts_with(kSpace);
        text += space ? ' ' : piece.front();
        piece.remove_prefix(space ? kSpace.size() : 1);
    }
    return text;
}

std::string from_word_piece(std::string_view piece) {
    return piece.starts_with("##") ? std::string(piece.substr(2)) : ' ' + std::string(piece);
}

std::string bytes_of(std::string_view piece, Writing writing) {
    switch (writing) {
        case Writing::ByteLevel:
            return from_byte_level(piece);
        case Writing::WordPiece:
            return from_word_piece(piece);
        case Writing::SentencePiece:
            break;
    }
    return from_sentence_piece(piece);
}

using Pieces = std::map<int64_t, std::string>;

/// Returns the model's vocabulary, which is an object of ids, or Unigram's list of pieces with their scores.
Pieces pieces_of(const json& tokenizer) {
    Pieces pieces;
    const json& vocabulary = tokenizer.at("model").at("vocab");
    const Writing writing = writing_of(tokenizer);
    if (vocabulary.is_object()) {
        for (const auto& [piece, id] : vocabulary.items())
            pieces[id.get<int64_t>()] = bytes_of(piece, writing);
    } else {
        for (size_t id = 0; id < vocabulary.size(); ++id)
            pieces[static_cast<int64_t>(id)] =
                bytes_of(vocabulary[id].at(0).get_ref<const std::string&>(), writing);
    }
    return pieces;
}

}  // namespace

TokenText TokenText::read(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "tokenizer.json";
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) return {};
    const auto refuse = [&](const char* why) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), why, file.string());
    };
    TokenText made;
    try {
        const json tokenizer = json::parse(read_bounded(file, kMostBytes));
        Pieces pieces = pieces_of(tokenizer);
        std::map<int64_t, bool> special;
        for (const json& added : tokenizer.value("added_tokens", json::array())) {
            const auto id = added.at("id").get<int64_t>();
            pieces[id] = added.at("content").get<std::string>();  // added tokens are stored as plain text
            special[id] = added.value("special", false);
        }
        if (pieces.empty()) return {};
        const int64_t last = pieces.rbegin()->first;
        if (pieces.begin()->first < 0 || last >= kMostTokens)
            refuse("holds a token outside the range of ids");
        made.special_.assign(static_cast<size_t>(last) + 1, 0);
        for (const auto& [id, is_special] : special) made.special_[static_cast<size_t>(id)] = is_special;
        for (int64_t id = 0; id <= last; ++id) {
            made.begins_.push_back(made.text_.size());
            if (const auto found = pieces.find(id); found != pieces.end()) made.text_ += found->second;
        }
        made.begins_.push_back(made.text_.size());
    } catch (const json::exception&) {
        refuse("is no tokenizer of the Hugging Face library");
    }
    return made;
}

std::string TokenText::text(int32_t id) const {
    const std::string_view known_bytes = bytes(id);
    if (!known_bytes.empty()) return std::string(known_bytes);
    return "<" + std::to_string(id) + ">";
}

}  // namespace ringmaster
