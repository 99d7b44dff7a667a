#include "launcher/base/secrets.h"

#include <unistd.h>

#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/config/document.h"

namespace ringmaster {

using nlohmann::json;

namespace {

constexpr size_t kShortestKnown = 6;

/// Endings of keys that look like the name of a secret but hold no secret.
constexpr std::array<std::string_view, 13> kHarmless = {
    "bos_token",    "eos_token",   "pad_token",   "unk_token",   "sep_token",  "cls_token",
    "mask_token",   "image_token", "audio_token", "video_token", "stop_token", "additional_special_token",
    "special_token"};

constexpr std::array<std::string_view, 13> kEndings = {
    "token",      "secret",        "password",   "passwd",      "passphrase",  "apikey",       "api_key",
    "access_key", "access_key_id", "secret_key", "private_key", "credentials", "authorization"};

std::string lower(std::string_view text) {
    std::string small(text);
    for (char& c : small)
        c = c == '-' || c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return small;
}

/// Returns true for values that cannot be a secret, such as true, null, 0 and "".
bool tells_nothing(std::string_view value) {
    const std::string small = lower(value);
    return small.size() < 3 || small == "true" || small == "false" || small == "null" || small == "none" ||
           small == "yes" || small == "off" || small == kMasked ||
           small.find_first_not_of("0123456789") == std::string::npos;
}

void collect(const json& value, bool secret, std::set<std::string>& into) {
    if (value.is_object()) {
        for (const auto& [key, member] : value.items()) collect(member, secret || names_secret(key), into);
    } else if (value.is_array()) {
        for (const json& member : value) collect(member, secret, into);
    } else if (secret && value.is_string() && !tells_nothing(value.get_ref<const std::string&>())) {
        into.insert(value.get<std::string>());
    }
}

void replace_all(std::string& text, std::string_view what) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + kMasked.size()))
        text.replace(at, what.size(), kMasked);
}

/// Removes known values and each of their lines, longest first, so that overlaps go too.
void remove_known(std::string& text, const std::set<std::string>& known) {
    std::vector<std::string> all;
    for (const std::string& value : known) {
        for (size_t begin = 0; begin <= value.size();) {
            const size_t end = std::min(value.find('\n', begin), value.size());
            if (end - begin >= kShortestKnown) all.push_back(value.substr(begin, end - begin));
            begin = end + 1;
        }
        if (value.size() >= kShortestKnown) all.push_back(value);
        const std::string escaped = json(value).dump(-1, ' ', false, json::error_handler_t::replace);
        if (value.size() >= kShortestKnown) all.push_back(escaped.substr(1, escaped.size() - 2));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    for (const std::string& value : all) replace_all(text, value);
}

struct Pattern {
    QRegularExpression expression;
    QString with;
};

const std::vector<Pattern>& patterns() {
    const auto made = [](const char* text, const char* with) {
        return Pattern{QRegularExpression(QString::fromLatin1(text)), QString::fromLatin1(with)};
    };
    static const std::vector<Pattern> all = {
        made("-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]*?(-----END [A-Z ]*PRIVATE KEY-----|\\z)",
             "[removed]"),
        made("(?i)\\b([a-z][a-z0-9+.-]*://)[^\\s/@:\"']*:?[^\\s/@\"']*@", "\\1[removed]@"),
        made("(?i)([?&](?:[a-z0-9_-]*(?:token|signature|secret|password|key|sig|credential|auth))=)[^&\\s\"'#"
             "]+",
             "\\1[removed]"),
        made("(?i)\\b((?:bearer|basic)\\s+)[A-Za-z0-9+/=._~-]{8,}", "\\1[removed]"),
        made("\\b(?:hf|api_org)_[A-Za-z0-9]{12,}", "[removed]"),
        made("\\bsk-[A-Za-z0-9_-]{16,}", "[removed]"),
        made("\\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,})",
             "[removed]"),
        made("\\b(?:AKIA|ASIA)[A-Z0-9]{12,}", "[removed]"),
        made("\\bAIza[A-Za-z0-9_-]{30,}", "[removed]"),
        made("\\bxox[abprs]-[A-Za-z0-9-]{10,}", "[removed]"),
        made("\\beyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*", "[removed]"),
    };
    return all;
}

/// Matches a Weights & Biases key, and also a commit hash, because both are 40 hexadecimal digits.
const Pattern& hash_pattern() {
    static const Pattern pattern = {QRegularExpression(QStringLiteral("\\b[0-9a-f]{40}\\b")),
                                    QStringLiteral("[removed]")};
    return pattern;
}

QString without_known_and_looks(std::string text, const std::set<std::string>& known) {
    remove_known(text, known);
    QString masked = QString::fromUtf8(text.data(), qsizetype(text.size()));
    for (const auto& [expression, with] : patterns()) masked.replace(expression, with);
    return masked;
}

/// Matches `key: value`, `"key": "value"`, `KEY=value` and `--key value` anywhere in a line.
const QRegularExpression& assignment() {
    static const QRegularExpression expression(QStringLiteral(
        R"re((["']?)([A-Za-z0-9_.\-]+)\1(\s*[:=]\s*|\s+(?=[^\s:=]))("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;}\]"']+))re"));
    return expression;
}

bool is_masked_by_key(const QRegularExpressionMatch& found) {
    const std::string key = found.captured(2).toStdString();
    const QString between = found.captured(3).trimmed();
    if (between.isEmpty() && !key.starts_with("--")) return false;  // "token expired" is prose, not an option
    return names_secret(key) &&
           !tells_nothing(found.captured(4).remove(QLatin1Char('"')).remove(QLatin1Char('\'')).toStdString());
}

QString without_assigned(const QString& line) {
    QString out;
    qsizetype at = 0;
    while (at < line.size()) {
        const QRegularExpressionMatch found = assignment().match(line, at);
        if (!found.hasMatch()) break;
        if (!is_masked_by_key(found)) {  // continue after the key: its value may hold another key
            const qsizetype next = found.capturedEnd(2);
            out += QStringView(line).mid(at, next - at);
            at = next;
            continue;
        }
        const QString value = found.captured(4);
        const bool quoted = value.startsWith(QLatin1Char('"')) || value.startsWith(QLatin1Char('\''));
        const QString quote = quoted ? value.left(1) : QString();
        out += QStringView(line).mid(at, found.capturedStart(4) - at);
        out += quote + QLatin1String(kMasked.data(), qsizetype(kMasked.size())) + quote;
        at = found.capturedEnd(4);
        if (!quoted) {  // an unquoted YAML value ends with the line or the flow item
            while (at < line.size() && !QStringLiteral(",;}]&").contains(line[at])) ++at;
        }
    }
    return out + line.mid(at);
}

qsizetype indent_of(const QString& line) {
    qsizetype count = 0;
    while (count < line.size() && (line[count] == QLatin1Char(' ') || line[count] == QLatin1Char('\t')))
        ++count;
    return count;
}

/// Masks the values of keys that name secrets, line by line. Also masks the lines indented below such a key:
/// a list, a block or a continued value.
QString without_named(const QString& text) {
    static const QRegularExpression heading(
        QStringLiteral(R"(^[\s\-{]*["']?([A-Za-z0-9_.\-]+)["']?\s*:(\s|$))"));
    QStringList out;
    qsizetype inside = -1;  // indent of a secret's key whose value continues
    for (const QString& line : text.split(QLatin1Char('\n'))) {
        const qsizetype indent = indent_of(line);
        if (inside >= 0 &&
            (indent > inside || (indent == inside && line.mid(indent).startsWith(QLatin1String("- "))))) {
            out << line.left(indent) + QLatin1String(kMasked.data(), qsizetype(kMasked.size()));
            continue;
        }
        if (!line.trimmed().isEmpty()) inside = -1;
        const QRegularExpressionMatch key = heading.match(line);
        if (key.hasMatch() && names_secret(key.captured(1).toStdString())) inside = indent;
        out << without_assigned(line);
    }
    return out.join(QLatin1Char('\n'));
}

}  // namespace

bool names_secret(std::string_view key) {
    const std::string small = lower(key);
    const auto is_last_word = [&](std::string_view word) {
        return small.ends_with(word) &&
               (small.size() == word.size() || small[small.size() - word.size() - 1] == '_');
    };
    if (std::any_of(kHarmless.begin(), kHarmless.end(), is_last_word)) return false;
    return std::any_of(kEndings.begin(), kEndings.end(), is_last_word) || small == "_authtoken" ||
           small == "authtoken";
}

std::set<std::string> secrets_of_environment() {
    std::set<std::string> secrets;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view variable(*entry);
        const size_t equals = variable.find('=');
        if (equals == std::string_view::npos || !names_secret(variable.substr(0, equals))) continue;
        const std::string_view value = variable.substr(equals + 1);
        if (!tells_nothing(value)) secrets.insert(std::string(value));
    }
    return secrets;
}

std::set<std::string> secrets_of_document(std::string_view text) {
    std::set<std::string> secrets;
    const json parsed = json::parse(text, nullptr, false);
    if (!parsed.is_discarded()) {
        collect(parsed, false, secrets);
        return secrets;
    }
    Document document;
    Diagnostics said;
    if (read_document(text, document, said)) collect(document.values, false, secrets);
    return secrets;
}

std::string without_secrets(const std::string& text, const std::set<std::string>& known) {
    QString masked = without_known_and_looks(text, known);
    masked.replace(hash_pattern().expression, hash_pattern().with);
    return without_named(masked).toStdString();
}

void mask_secrets(json& value, const std::set<std::string>& known, const std::set<std::string>& kept) {
    if (value.is_object()) {
        for (auto& [key, member] : value.items()) {
            if (!kept.contains(key)) mask_secrets(member, known, kept);
        }
    } else if (value.is_array()) {
        for (json& member : value) mask_secrets(member, known, kept);
    } else if (value.is_string()) {
        value = without_known_and_looks(value.get<std::string>(), known).toStdString();
    }
}

}  // namespace ringmaster
