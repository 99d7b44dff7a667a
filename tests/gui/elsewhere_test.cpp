// A run on another machine as a person goes it, with a real sshd and the real engine: name the machine, trust
// its key, launch there, lose the connection and find it again, stop, resume, and have the model here.
#include <signal.h>

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QRadioButton>
#include <QTemporaryDir>
#include <QTest>

#include "gui/app/main_window.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/launch_form.h"
#include "gui/login/question_dialog.h"
#include "gui/look/look.h"
#include "gui/monitor/monitor_page.h"
#include "gui/nodes/nodes_page.h"
#include "launcher/anywhere/companion.h"
#include "launcher/example.h"
#include "launcher/recorded_run.h"
#include "tests/support/listener.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 120000;  ///< until something of a run that takes seconds; a machine may be busy

void run(const QString& program, const QStringList& arguments) {
    if (QProcess::execute(program, arguments) != 0) qFatal("%s failed", qPrintable(program));
}

/// A real sshd on a port of loopback, with a home of its own.
class Sshd {
  public:
    explicit Sshd(const QString& folder) : m_folder(folder) {
        QDir().mkpath(folder + u"/home"_s);
        QDir().mkpath(u"/run/sshd"_s);  // where sshd runs as root
        run(u"ssh-keygen"_s, {u"-q"_s, u"-t"_s, u"ed25519"_s, u"-N"_s, u""_s, u"-f"_s, folder + u"/host"_s});
        run(u"ssh-keygen"_s, {u"-q"_s, u"-t"_s, u"ed25519"_s, u"-N"_s, u""_s, u"-f"_s, folder + u"/id"_s});
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

    /// The server and the sessions that it serves; what those started in sessions of their own lives on.
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

RunPhase state_of(const QString& dir) {
    return read_run_state(dir.toStdString()).state;
}

std::vector<int64_t> steps_of(const QString& dir, size_t rank) {
    const RecordedRun recorded = read_recorded_run({dir.toStdString()});
    std::vector<int64_t> steps;
    if (rank < recorded.ranks.size())
        for (const auto& [step, figures] : recorded.ranks[rank].steps) steps.push_back(step);
    return steps;
}

}  // namespace

class ElsewhereTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_home.isValid());
        qputenv("XDG_CONFIG_HOME", m_home.filePath(u"config"_s).toLocal8Bit());
        qputenv("XDG_DATA_HOME", m_home.filePath(u"data"_s).toLocal8Bit());
        qputenv("RINGMASTER_SSH_CONFIG", m_home.filePath(u"ssh_config"_s).toLocal8Bit());
        qputenv("CUDA_VISIBLE_DEVICES", "");
        qunsetenv("SSH_AUTH_SOCK");
        qunsetenv("SSH_CONNECTION");
        applyAppearance(Appearance::Light);
        m_places = find_places();
        m_places.programs_dir = RINGMASTER_BIN;
        m_places.share_dir = m_places.programs_dir.parent_path() / "share/ringmaster";
        m_there = std::make_unique<Sshd>(m_home.filePath(u"there"_s));
        writeClientConfig();
        makeExample();
        m_session = std::make_unique<Session>(m_places);
        m_window = std::make_unique<MainWindow>(*m_session);
        m_window->resize(1280, 900);
        m_window->show();
    }

    void aMachineIsNamedItsKeyTrustedAndItCanTrain() {
        m_window->showPage(u"nodes"_s);
        auto* page = qobject_cast<NodesPage*>(m_window->page(u"nodes"_s));
        QTRY_VERIFY_WITH_TIMEOUT(page->settled(), kPatienceMs);
        page->checks().add({TargetKind::Ssh, "there"});
        QTRY_VERIFY_WITH_TIMEOUT(QApplication::activeModalWidget() != nullptr, kPatienceMs);
        auto* asked = qobject_cast<TrustDialog*>(QApplication::activeModalWidget());
        QVERIFY(asked);
        QTest::mouseClick(asked->findChild<QPushButton*>(u"trustKeyButton"_s), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(page->settled(), kPatienceMs);
        const TargetReport& report = *page->checks().entry(1).last;
        QVERIFY2(report.node.state == NodeVerdict::Ready || report.node.state == NodeVerdict::Warning,
                 report.node.message.c_str());
        QTest::qWait(500);  // it is written
    }

    void aRunIsLaunchedThereAndItsStepsAreSeenHere() {
        m_window->openPath(m_example);
        QTRY_VERIFY_WITH_TIMEOUT(button("launchButton")->isEnabled(), kPatienceMs);
        QTest::mouseClick(button("launchButton"), Qt::LeftButton);
        auto* form = m_window->findChild<LaunchForm*>();
        QVERIFY(form);
        form->findChild<QRadioButton*>(u"launchNodes"_s)->setChecked(true);
        auto* nodes = form->findChild<QListWidget*>(u"launchNodeList"_s);
        QCOMPARE(nodes->count(), 1);
        nodes->item(0)->setCheckState(Qt::Checked);
        QTest::mouseClick(form->findChild<QPushButton*>(u"showPreviewButton"_s), Qt::LeftButton);
        auto* preview = form->findChild<QPlainTextEdit*>(u"previewText"_s);
        QTRY_VERIFY_WITH_TIMEOUT(preview->toPlainText().contains(u"ringmaster-agent --run"_s), kPatienceMs);
        QVERIFY(preview->toPlainText().contains(u"torchrun --no-python --nnodes 1"_s));
        QTest::mouseClick(button("goLaunchButton"), Qt::LeftButton);
        auto* dialog = m_window->findChild<LaunchDialog*>();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isVisible(), kPatienceMs);
        QCOMPARE(m_window->pageName(), u"monitor"_s);
        m_run = m_window->findChild<MonitorPage*>()->run();
        QVERIFY(is_remote({m_run.toStdString()}));
        QTRY_VERIFY_WITH_TIMEOUT(steps_of(m_run, 1).size() >= 3, kPatienceMs);
    }

    void aLostConnectionIsSaidAndLosesNothing() {
        m_there->stop();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<QPushButton*>(u"reconnectButton"_s) != nullptr,
                                 kPatienceMs);
        QCOMPARE(state_of(m_run), RunPhase::Running);
        m_there->start();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<QPushButton*>(u"reconnectButton"_s) == nullptr,
                                 kPatienceMs);
        const size_t known = steps_of(m_run, 0).size();
        QTRY_VERIFY_WITH_TIMEOUT(steps_of(m_run, 0).size() > known, kPatienceMs);
        for (size_t rank = 0; rank < 2; ++rank) {
            const std::vector<int64_t> steps = steps_of(m_run, rank);
            for (size_t i = 0; i < steps.size(); ++i) QCOMPARE(steps[i], int64_t(i) + 1);
        }
    }

    void stopSavesThereAndResumeGoesOnThere() {
        QTRY_VERIFY(button("stopButton")->isEnabled());
        QTest::mouseClick(button("stopButton"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Stopped, kPatienceMs);
        const int64_t stopped_after = steps_of(m_run, 0).back();
        QTRY_VERIFY_WITH_TIMEOUT(button("resumeButton")->isVisible(), kPatienceMs);
        QTest::mouseClick(button("resumeButton"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(steps_of(m_run, 0).back() > stopped_after, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(state_of(m_run), RunPhase::Completed, kPatienceMs);
        QCOMPARE(read_run_state(m_run.toStdString()).attempt, 2);
        const Plan plan = read_plan(m_run.toStdString() + "/plan.json");
        QVERIFY(QFile::exists(QString::fromStdString(plan.config.output_dir) + u"/model.safetensors"_s));
    }

    void cleanupTestCase() {
        if (!m_run.isEmpty() && !is_over(state_of(m_run)))
            stop_anywhere({m_run.toStdString()}, StopHow::Now, {});
        m_window.reset();
        m_session.reset();
        m_there.reset();
    }

  private:
    void writeClientConfig() {
        QFile config(m_home.filePath(u"ssh_config"_s));
        QVERIFY(config.open(QIODevice::WriteOnly));
        config.write(
            u"Host there\n  HostName 127.0.0.1\n  Port %1\n  IdentityFile %2/id\n  UserKnownHostsFile "
            "%3\n  GlobalKnownHostsFile none\n"_s.arg(m_there->port())
                .arg(m_there->folder(), m_home.filePath(u"known_hosts"_s))
                .toUtf8());
    }

    /// The example, shorter.
    void makeExample() {
        const std::filesystem::path made = make_example(m_places, {});
        const QString folder = m_home.path() + u"/example"_s;
        std::filesystem::copy(made.parent_path(), folder.toStdString(),
                              std::filesystem::copy_options::recursive);
        m_example = folder + u'/' + QString::fromStdString(made.filename().string());
        QFile file(m_example);
        QVERIFY(file.open(QIODevice::ReadWrite));
        QByteArray text = file.readAll();
        text.replace("max_steps: 240", "max_steps: 60");
        file.resize(0);
        file.seek(0);
        file.write(text);
    }

    QPushButton* button(const char* name) {
        auto* found = m_window->findChild<QPushButton*>(QString::fromLatin1(name));
        if (!found) qFatal("there is no button %s", name);
        return found;
    }

    QTemporaryDir m_home;
    Places m_places;
    std::unique_ptr<Sshd> m_there;
    QString m_example, m_run;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(ElsewhereTest)
#include "elsewhere_test.moc"
