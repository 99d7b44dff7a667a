/// Converts a file's bytes to an editor's text and back; line ends and a byte order mark are kept.
#pragma once

#include <QByteArray>
#include <QString>

namespace ringmaster {

struct FileText {
    QString text;  ///< text with \n as line ends
    bool crlf = false;
    bool byte_order_mark = false;

    QByteArray bytes() const { return bytesOf(text); }
    QByteArray bytesOf(const QString& edited) const;
};

/// Returns a configuration's bytes. Throws Error if the file is missing, unreadable, too large or not text.
QByteArray read_config_bytes(const QString& file);

/// Returns the text. Throws Error(Refused) if an editor could not give back the same bytes.
FileText text_of_bytes(const QByteArray& bytes, const QString& file);

/// Saves with QSaveFile. Throws Error(Refused) with the system's reason.
void save_bytes(const QString& file, const QByteArray& bytes);

}  // namespace ringmaster
