/// Runs a real sshd for C++ tests; sshd.py does the same for Python tests.
#pragma once

#include <signal.h>

#include <QDir>
#include <QFile>
#include <QProcess>

#include "tests/support/listener.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

/// Runs a real sshd on a loopback port, with its own home folder.
class Sshd {
  public:
    explicit Sshd(const QString& folder) : m_folder(folder) {
        QDir().mkpath(folder + u"/home"_s);
        QDir().mkpath(u"/run/sshd"_s);  // needed if sshd runs as root
        for (const QString& key : {folder + u"/host"_s, folder + u"/id"_s})
            if (QProcess::execute(u"ssh-keygen"_s,
                                  {u"-q"_s, u"-t"_s, u"ed25519"_s, u"-N"_s, u""_s, u"-f"_s, key}) != 0)
                qFatal("ssh-keygen failed");
        m_port = Listener().port();
        QFile config(folder + u"/sshd_config"_s);
        if (!config.open(QIODevice::WriteOnly)) qFatal("no sshd_config");
        config.write(
            u"Port %1\nListenAddress 127.0.0.1\nHostKey %2/host\nPidFile none\nUsePAM no\nStrictModes no\n"
            "AuthorizedKeysFile %2/id.pub\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            "PermitRootLogin prohibit-password\n"
            "SetEnv HOME=%2/home XDG_DATA_HOME=%2/home/data XDG_CACHE_HOME=%2/home/cache "
            "OMP_NUM_THREADS=1\n"_s.arg(m_port)
                .arg(folder)
                .toUtf8());
        config.close();
        start();
    }
    ~Sshd() { stop(); }

    void start() {
        m_process.setProcessChannelMode(QProcess::MergedChannels);
        m_process.start(u"/usr/sbin/sshd"_s, {u"-D"_s, u"-e"_s, u"-f"_s, m_folder + u"/sshd_config"_s});
        QByteArray said;
        while (!said.contains("Server listening"))
            if (!m_process.waitForReadyRead(10000))
                qFatal("sshd: %s", said.constData());
            else
                said += m_process.readAll();
    }

    /// Stops the server and its sessions. Processes that moved to another session keep running.
    void stop() {
        if (m_process.state() == QProcess::NotRunning) return;
        QProcess children;
        children.start(u"pgrep"_s, {u"-P"_s, QString::number(m_process.processId())});
        children.waitForFinished();
        for (const QByteArray& pid : children.readAllStandardOutput().split('\n'))
            if (const int child = pid.toInt(); child > 0) ::kill(child, SIGKILL);
        m_process.kill();
        m_process.waitForFinished();
    }

    int port() const { return m_port; }
    QString folder() const { return m_folder; }

  private:
    QString m_folder;
    int m_port = 0;
    QProcess m_process;
};

}  // namespace ringmaster
