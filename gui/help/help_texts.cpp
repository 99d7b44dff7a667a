#include "gui/help/help_texts.h"

#include <QFile>
#include <QLocale>

#include "engine/config/finding_record.h"
#include "gui/session/finding_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

QString file_of(HelpBook book) {
    const QString name = book == HelpBook::Guide ? u"guide"_s : u"figures"_s;
    const QString whole = QLocale().name();
    for (const QString& language : {whole, whole.section(u'_', 0, 0), u"en"_s}) {
        const QString file = u":/help/%1.%2.md"_s.arg(name, language);
        if (QFile::exists(file)) return file;
    }
    return {};
}

HelpEntry entry_of(const QString& part, HelpBook book) {
    const qsizetype line_end = part.indexOf(u'\n');
    HelpEntry entry;
    entry.id = part.left(line_end).trimmed();
    QString rest = part.mid(line_end).trimmed();
    if (book == HelpBook::Guide) {
        entry.title = entry.id;
        entry.text = rest;
    } else {
        const qsizetype title_end = rest.indexOf(u'\n');
        entry.title = rest.left(title_end).trimmed();
        entry.text = title_end < 0 ? QString() : rest.mid(title_end).trimmed();
    }
    return entry;
}

/// An entry for each record of resources/findings.
std::vector<HelpEntry> help_of_codes() {
    std::vector<HelpEntry> entries;
    for (const auto& [code, record] : finding_records()) {
        const FindingTexts* texts = texts_of(code, finding_language());
        if (texts == nullptr) continue;
        entries.push_back({QString::fromStdString(code), QString::fromStdString(texts->title),
                           QString::fromStdString(texts->explanation).trimmed()});
    }
    return entries;
}

}  // namespace

std::vector<HelpEntry> read_help(HelpBook book) {
    if (book == HelpBook::Codes) return help_of_codes();
    std::vector<HelpEntry> entries;
    QFile file(file_of(book));
    if (!file.open(QIODevice::ReadOnly)) return entries;
    const QStringList parts = (u"\n"_s + QString::fromUtf8(file.readAll())).split(u"\n## "_s);
    for (const QString& part : parts.mid(1)) entries.push_back(entry_of(part, book));
    return entries;
}

}  // namespace ringmaster
