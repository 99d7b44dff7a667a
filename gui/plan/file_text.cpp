#include "gui/plan/file_text.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QStringDecoder>

#include "engine/config/document.h"
#include "engine/error.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

constexpr QByteArrayView kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void refuse(const QString& file, const std::string& why, const std::string& hint) {
    throw Error(Failure::Refused, Code("FILE-DAMAGED"), why, file.toStdString(), hint);
}

/// Returns false for characters that QTextDocument takes for a line end or uses itself.
bool is_kept_by_editor(QChar c) {
    const char16_t code = c.unicode();
    return code == u'\n' || code == u'\t' ||
           (code >= 0x20 && code != 0x7f && code != 0x2028 && code != 0x2029 && code != 0xfdd0 &&
            code != 0xfdd1);
}

}  // namespace

QByteArray FileText::bytesOf(const QString& edited) const {
    QByteArray bytes = edited.toUtf8();
    if (crlf) bytes.replace("\n", "\r\n");
    return byte_order_mark ? kByteOrderMark.toByteArray() + bytes : bytes;
}

QByteArray read_config_bytes(const QString& file) {
    const QFileInfo info(file);
    if (info.isDir()) refuse(file, "is a folder", "open a YAML file");
    if (!info.exists())
        throw Error(Failure::Usage, Code("FILE-MISSING"), "no such file", file.toStdString(), "");
    QFile from(file);
    if (!info.isFile() || !from.open(QIODevice::ReadOnly))
        refuse(file, "cannot be read: " + from.errorString().toStdString(), "");
    if (from.size() > qint64(kMaxConfigBytes))
        refuse(file, "is larger than 8 MiB", "a configuration has a few KiB: is it the right file?");
    QByteArray bytes = from.read(qint64(kMaxConfigBytes) + 1);
    if (from.error() != QFileDevice::NoError)
        refuse(file, "cannot be read: " + from.errorString().toStdString(), "");
    return bytes;
}

FileText text_of_bytes(const QByteArray& bytes, const QString& file) {
    FileText found;
    QByteArrayView rest = bytes;
    found.byte_order_mark = rest.startsWith(kByteOrderMark);
    if (found.byte_order_mark) rest = rest.sliced(kByteOrderMark.size());
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::ConvertInitialBom);
    found.text = decoder.decode(rest);
    if (decoder.hasError()) refuse(file, "is not UTF-8 text", "save it as UTF-8, or open another file");
    const qsizetype breaks = found.text.count(u'\n');
    const qsizetype pairs = found.text.count(u"\r\n"_s);
    if (pairs > 0) {
        if (pairs != breaks)
            refuse(file, "mixes two kinds of line ends", "save it with one kind: dos2unix does it");
        found.crlf = true;
        found.text.replace(u"\r\n"_s, u"\n"_s);
    }
    for (const QChar c : std::as_const(found.text)) {
        if (!is_kept_by_editor(c))
            refuse(file, "holds a control character (code " + std::to_string(int(c.unicode())) + ")",
                   "is it a text file?");
    }
    return found;
}

void save_bytes(const QString& file, const QByteArray& bytes) {
    QDir().mkpath(QFileInfo(file).absolutePath());
    QSaveFile to(file);
    const bool saved = to.open(QIODevice::WriteOnly) && to.write(bytes) == bytes.size() && to.commit();
    if (!saved)
        refuse(file, "cannot be saved: " + to.errorString().toStdString(), "save it under another name");
}

}  // namespace ringmaster
