/// A file's bytes as an editor shows them, and back: line ends and a byte order mark are kept.
#pragma once

#include <QByteArray>
#include <QString>

namespace ringmaster {

struct FileText {
    QString text;  ///< line ends are \n
    bool crlf = false;
    bool byte_order_mark = false;

    QByteArray bytes() const { return bytesOf(text); }
    QByteArray bytesOf(const QString& edited) const;
};

/// Throws Error: missing, unreadable, larger than a configuration may be, or not text.
QByteArray read_config_bytes(const QString& file);

/// Throws Error(Refused) where an editor could not give the same bytes back.
FileText text_of_bytes(const QByteArray& bytes, const QString& file);

/// Through QSaveFile. Throws Error(Refused) with the system's reason.
void save_bytes(const QString& file, const QByteArray& bytes);

}  // namespace ringmaster
