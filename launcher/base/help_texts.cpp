#include "launcher/base/help_texts.h"

#include <QFile>

#include "engine/config/finding_record.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QString file_of(HelpBook book, const std::string& language) {
    const QString name = book == HelpBook::Guide ? u"guide"_s : u"figures"_s;
    const QString file = u":/help/%1.%2.md"_s.arg(name, QString::fromStdString(language));
    return QFile::exists(file) ? file : u":/help/%1.en.md"_s.arg(name);
}

/// Parses a part whose first line is the entry's id and whose next non-empty line is the title.
HelpEntry entry_of(const QString& part) {
    const qsizetype line_end = part.indexOf(u'\n');
    const QString rest = part.mid(line_end).trimmed();
    const qsizetype title_end = rest.indexOf(u'\n');
    return {part.left(line_end).trimmed(), rest.left(title_end).trimmed(),
            title_end < 0 ? QString() : rest.mid(title_end).trimmed()};
}

/// Returns an entry for each record of resources/findings.
std::vector<HelpEntry> help_of_codes(const std::string& language) {
    std::vector<HelpEntry> entries;
    for (const auto& [code, record] : finding_records()) {
        const FindingTexts* texts = texts_of(code, language);
        if (texts == nullptr) continue;
        entries.push_back({QString::fromStdString(code), QString::fromStdString(texts->title),
                           QString::fromStdString(texts->explanation).trimmed()});
    }
    return entries;
}

}  // namespace

std::vector<HelpEntry> read_help(HelpBook book, const std::string& language) {
    if (book == HelpBook::Codes) return help_of_codes(language);
    std::vector<HelpEntry> entries;
    QFile file(file_of(book, language));
    if (!file.open(QIODevice::ReadOnly)) return entries;
    const QStringList parts = (u"\n"_s + QString::fromUtf8(file.readAll())).split(u"\n## "_s);
    for (const QString& part : parts.mid(1)) entries.push_back(entry_of(part));
    return entries;
}

}  // namespace ringmaster
