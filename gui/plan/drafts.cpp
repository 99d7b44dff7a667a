#include "gui/plan/drafts.h"

#include <unistd.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <atomic>

#include "engine/config/document.h"
#include "gui/plan/file_text.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

namespace {

/// Returns a process's start time in clock ticks since boot. Together with the boot id, it distinguishes
/// processes that had the same pid. Returns an empty string if the process has ended, even if its parent has
/// not reaped it yet.
QString started_at(qint64 pid) {
    QFile stat(u"/proc/%1/stat"_s.arg(pid));
    if (!stat.open(QIODevice::ReadOnly)) return {};
    const QByteArray text = stat.readAll();
    const QList<QByteArray> fields = text.mid(text.lastIndexOf(')') + 2).split(' ');
    constexpr qsizetype kStartTime = 19;
    if (fields.first() == "Z" || fields.first() == "X") return {};
    return fields.size() > kStartTime ? QString::fromLatin1(fields[kStartTime]) : QString();
}

QString boot_id() {
    QFile file(u"/proc/sys/kernel/random/boot_id"_s);
    return file.open(QIODevice::ReadOnly) ? QString::fromLatin1(file.readAll().trimmed()) : QString();
}

bool is_alive(const QJsonObject& owner) {
    const auto pid = qint64(owner[u"pid"_s].toDouble());
    return pid > 0 && owner[u"boot"_s].toString() == boot_id() && !started_at(pid).isEmpty() &&
           owner[u"started"_s].toString() == started_at(pid);
}

QJsonObject this_process() {
    const qint64 pid = ::getpid();
    return {{u"pid"_s, double(pid)}, {u"started"_s, started_at(pid)}, {u"boot"_s, boot_id()}};
}

std::optional<Draft> read_orphan(const QString& path) {
    QFile file(path);
    constexpr qint64 kMost = 4 * qint64(kMaxConfigBytes);
    if (file.size() > kMost || !file.open(QIODevice::ReadOnly)) return std::nullopt;
    const QJsonObject json = QJsonDocument::fromJson(file.readAll()).object();
    if (!json[u"text"_s].isString() || is_alive(json[u"owner"_s].toObject())) return std::nullopt;
    return Draft{json[u"file"_s].toString(), json[u"base_dir"_s].toString(), json[u"text"_s].toString(),
                 json[u"saved_at"_s].toDouble(), path};
}

}  // namespace

Drafts::Drafts(const QString& folder) : m_folder(folder) {
    static std::atomic<int> count = 0;
    m_mine = u"%1/%2-%3-%4.json"_s.arg(m_folder)
                 .arg(QDateTime::currentMSecsSinceEpoch())
                 .arg(::getpid())
                 .arg(++count);
}

void Drafts::keep(const Draft& draft) {
    const QJsonObject json{{u"file"_s, draft.file},
                           {u"base_dir"_s, draft.base_dir},
                           {u"text"_s, draft.text},
                           {u"saved_at"_s, double(QDateTime::currentMSecsSinceEpoch()) / 1e3},
                           {u"owner"_s, this_process()}};
    save_bytes(m_mine, QJsonDocument(json).toJson(QJsonDocument::Compact));
}

void Drafts::forget() {
    QFile::remove(m_mine);
}

std::optional<Draft> Drafts::orphan(const QString& file) const {
    std::optional<Draft> best;
    const QStringList names = QDir(m_folder).entryList({u"*.json"_s}, QDir::Files);
    for (const QString& name : names) {
        const auto draft = read_orphan(m_folder + u'/' + name);
        if (!draft) continue;
        const bool wanted = draft->file == file, best_wanted = best && best->file == file;
        const bool newer = !best || draft->saved_at > best->saved_at;
        if (!best || (wanted && !best_wanted) || (wanted == best_wanted && newer)) best = draft;
    }
    return best;
}

void Drafts::discard(const Draft& draft) {
    QFile::remove(draft.path);
}

}  // namespace ringmaster
