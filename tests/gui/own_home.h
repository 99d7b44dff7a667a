/// Makes a user's folders (settings, data, ~/.ssh) for one test, and removes them at its end.
#pragma once

#include <QFile>
#include <QTemporaryDir>
#include <filesystem>

#include "launcher/base/example.h"

namespace ringmaster {

class OwnHome : public QTemporaryDir {
  public:
    OwnHome() {
        if (!isValid()) qFatal("%s", qPrintable(errorString()));
        qputenv("XDG_CONFIG_HOME", path("config").toLocal8Bit());
        qputenv("XDG_DATA_HOME", path("data").toLocal8Bit());
        qputenv("RINGMASTER_SSH_CONFIG", path("ssh_config").toLocal8Bit());
        qunsetenv("SSH_AUTH_SOCK");
    }

    using QTemporaryDir::path;
    QString path(const char* name) const { return filePath(QString::fromUtf8(name)); }

    void write(const char* name, const QByteArray& bytes) const {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("%s: %s", name, qPrintable(file.errorString()));
    }
    QByteArray read(const char* name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    /// Makes the example, with 60 steps, and returns its example.yaml.
    QString makeExample(const Places& places) const {
        std::filesystem::copy(make_example(places, {}).parent_path(), path("example").toStdString(),
                              std::filesystem::copy_options::recursive);
        write("example/example.yaml", read("example/example.yaml")
                                          .replace("max_steps: 240", "max_steps: 60")
                                          .replace("_steps: 80", "_steps: 20"));
        return path("example/example.yaml");
    }
};

}  // namespace ringmaster
