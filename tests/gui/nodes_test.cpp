// Tests the Nodes page over real connections: what it asks while logging in, what it remembers, and that the
// window never freezes.
#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTranslator>

#include "engine/events/event_log.h"
#include "gui/login/login_prompts.h"
#include "gui/login/question_dialog.h"
#include "gui/look/card.h"
#include "gui/nodes/node_details.h"
#include "gui/nodes/node_words.h"
#include "gui/nodes/nodes_model.h"
#include "gui/nodes/nodes_page.h"
#include "tests/gui/own_home.h"
#include "tests/support/listener.h"
#include "tests/support/ssh_server.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kCheckMs = 30000;

const Target kHere{TargetKind::Here, ""};

Target ssh_target(const char* name) {
    return {TargetKind::Ssh, name};
}

}  // namespace

class NodesTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { applyAppearance(Appearance::Light); }

    void init() {
        QFile::remove(m_home.path("data/ringmaster/nodes.json"));
        QFile::remove(m_home.path("known_hosts"));
        m_config.clear();
        m_home.write("ssh_config", {});
        open();
    }

    void cleanup() {
        m_page.reset();
        m_session.reset();
    }

    void thisMachineIsCheckedByItself() {
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
        const SavedTarget& here = m_page->checks().entry(0);
        QCOMPARE(here.target, kHere);
        QVERIFY(here.last && here.last->node.facts);
        QCOMPARE(QString::fromStdString(here.last->node.facts->host_name), QSysInfo::machineHostName());
        QVERIFY(!button("removeNodeButton")->isVisible());
    }

    void aTargetIsRememberedWithItsCheck() {
        Listener nobody;
        const QByteArray name = "127.0.0.1:" + QByteArray::number(nobody.port());
        nobody.close();
        add(QString::fromLatin1(name));
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
        QVERIFY2(said().contains(u"refused"_s), qPrintable(said()));
        const double checked = report().checked;
        QVERIFY(std::abs(checked - unix_now()) < 60);
        m_page.reset();
        open();
        const int row = m_page->checks().rowOf(ssh_target(name.constData()));
        QCOMPARE(row, 1);
        QCOMPARE(m_page->checks().phase(row), CheckPhase::Idle);
        QCOMPARE(m_page->checks().entry(row).last->checked, checked);
        QVERIFY(m_page->checks().entry(row).last->node.message.find("refused") != std::string::npos);
        table()->selectRow(row);
        QTest::mouseClick(button("removeNodeButton"), Qt::LeftButton);
        QCOMPARE(m_page->checks().count(), 1);
        m_page.reset();
        open();
        QCOMPARE(m_page->checks().count(), 1);
    }

    void namesThatAreNoMachinesAreSaidAndNotAdded_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"a;b", "$(touch canary)", "-oProxyCommand=touch", "a b", "`x`", "x:99999"})
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void namesThatAreNoMachinesAreSaidAndNotAdded() {
        QFETCH(QString, name);
        type(name);
        QTest::mouseClick(button("addTargetButton"), Qt::LeftButton);
        QVERIFY(m_page->findChild<QLabel*>(u"addTargetProblem"_s)->isVisible());
        QCOMPARE(m_page->checks().count(), 1);
    }

    void hostsOfTheConfigurationAreOffered() {
        m_home.write("ssh_config", "Host gpu1 gpu2\n  Port 1\nHost *.lab\n");
        m_page->hide();
        m_page->show();
        auto* host = m_page->findChild<QComboBox*>(u"targetHost"_s);
        QCOMPARE(host->count(), 2);
        QCOMPARE(host->itemText(1), u"gpu2"_s);
        QCOMPARE(host->currentText(), QString());
    }

    void theModelKeepsItsPromises() {
        NodeChecks checks(*m_session);
        NodesModel model(checks);
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const int row = checks.add(ssh_target("127.0.0.1:1"));
        QCOMPARE(checks.add(ssh_target("127.0.0.1:1")), row);
        QTRY_COMPARE_WITH_TIMEOUT(checks.underWay(), 0, kCheckMs);
        QCOMPARE(model.data(model.index(row, NodesModel::Name)).toString(), u"127.0.0.1:1"_s);
        QVERIFY(!model.data(model.index(row, NodesModel::Message)).toString().isEmpty());
        checks.checkAll();
        QCOMPARE(checks.underWay(), 2);
        checks.cancelAll();
        QCOMPARE(checks.underWay(), 0);
        checks.remove(0);  // this machine cannot be removed
        checks.remove(row);
        QCOMPARE(model.rowCount(), 1);
    }

    void aHostThatHangsIsCalledOffAndHoldsNothing() {
        const Listener silent;
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
        int ticks = 0;
        QTimer clock;
        connect(&clock, &QTimer::timeout, this, [&ticks] { ++ticks; });
        clock.start(20);
        add(u"127.0.0.1:%1"_s.arg(silent.port()));
        QTRY_COMPARE(m_page->checks().phase(1), CheckPhase::Checking);
        QTRY_VERIFY(ticks > 10);  // the window stays responsive
        QVERIFY(button("cancelNodeButton")->isVisible());
        QTest::mouseClick(button("cancelNodeButton"), Qt::LeftButton);
        QCOMPARE(m_page->checks().phase(1), CheckPhase::Idle);
        QVERIFY(m_page->settled());
        QVERIFY(!m_page->checks().entry(1).last);
        m_page->checks().check(1);
        QTRY_COMPARE(m_page->checks().phase(1), CheckPhase::Checking);
        QElapsedTimer leaving;
        leaving.start();
        m_page.reset();
        QVERIFY2(leaving.elapsed() < 10000, "the page waited for the machine");
    }

    void anUnknownKeyIsAskedAndARefusalSendsNothing() {
        const SshServer server({"right", {}});
        serve("fresh", server);
        add(u"fresh"_s);
        auto* asked = dialog<TrustDialog>();
        QCOMPARE(asked->findChild<QLabel*>(u"fingerprintLabel"_s)->text(),
                 QString::fromStdString(server.fingerprint()));
        QVERIFY(asked->findChild<QPushButton*>(u"refuseKeyButton"_s)->isDefault());
        QTest::keyClick(asked, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
        QCOMPARE(report().node.state, NodeVerdict::Unreachable);
        QVERIFY2(said().contains(QString::fromStdString(server.fingerprint())), qPrintable(said()));
        QCOMPARE(server.asked(), 0);
        QVERIFY(!QFile::exists(m_home.path("known_hosts")));
    }

    void aTrustedKeyIsRememberedAndTheAnswerIsNot() {
        const SshServer server({"a-secret-word", {}});
        serve("fresh", server);
        add(u"fresh"_s);
        QTest::mouseClick(dialog<TrustDialog>()->findChild<QPushButton*>(u"trustKeyButton"_s),
                          Qt::LeftButton);
        auto* first = dialog<PromptDialog>();
        QCOMPARE(first->findChild<QLineEdit*>()->echoMode(), QLineEdit::Password);
        QVERIFY(!first->findChild<QPushButton*>(u"answerButton"_s)->isEnabled());
        QVERIFY(!first->findChild<Banner*>());
        const QPointer<QDialog> again = first;
        answer(first, u"wrong"_s);
        auto* second = dialog<PromptDialog>(again);
        QVERIFY(second->findChild<Banner*>(u"askedAgain"_s));
        QTRY_COMPARE(second->height(), second->layout()->totalHeightForWidth(second->width()));
        answer(second, u"a-secret-word"_s);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
        QVERIFY2(report().node.facts, report().node.message.c_str());
        QCOMPARE(m_home.read("known_hosts").count("ssh-ed25519"), 1);
        m_page->checks().check(1);  // the key is now known
        answer(dialog<PromptDialog>(), u"a-secret-word"_s);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
        m_page.reset();
        m_session.reset();
        for (const QString& file : filesBelow(m_home.path())) {
            QFile content(file);
            QVERIFY(content.open(QIODevice::ReadOnly));
            QVERIFY2(!content.readAll().contains("a-secret-word"), qPrintable(file));
        }
    }

    void aChangedKeyBlocksAndNothingOverridesIt() {
        const SshServer server({"right", {}}), other({"right", {}});
        serve("moved", server);
        QString line = QString::fromStdString(other.known_hosts_line());
        line.replace(QString::number(other.port()), QString::number(server.port()));
        m_home.write("known_hosts", line.toUtf8());
        add(u"moved"_s);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
        QVERIFY2(said().contains(u"CHANGED"_s), qPrintable(said()));
        QVERIFY(said().contains(u"ssh-keygen"_s));
        QCOMPARE(server.asked(), 0);
        QVERIFY(!QApplication::activeModalWidget());
        QStringList buttons;
        for (const auto* one : m_page->findChild<NodeDetails*>()->findChildren<QPushButton*>())
            if (one->isVisible()) buttons << one->objectName();
        buttons.sort();
        QCOMPARE(buttons, (QStringList{u"checkNodeButton"_s, u"copyNextButton"_s, u"removeNodeButton"_s}));
        QCOMPARE(m_home.read("known_hosts"), line.toUtf8());
    }

    void twoRoundsOfAServerAreShownInItsOwnWords() {
        const SshServer server({{},
                                {{"Welcome to <b>the lab</b>", "Password: ", false, "first"},
                                 {"\x1b[31mSent to your phone", "Code: ", true, "123456"}}});
        serve("strict", server);
        m_home.write("known_hosts", QByteArray::fromStdString(server.known_hosts_line()));
        add(u"strict"_s);
        auto* first = dialog<PromptDialog>();
        const auto* text = first->findChild<QLabel*>(u"serverText"_s);
        QCOMPARE(text->textFormat(), Qt::PlainText);
        QCOMPARE(text->text(), u"Welcome to <b>the lab</b>\nPassword:"_s);
        const QPointer<QDialog> before = first;
        answer(first, u"first"_s);
        auto* second = dialog<PromptDialog>(before);
        QCOMPARE(second->findChild<QLabel*>(u"serverText"_s)->text(), u"[31mSent to your phone\nCode:"_s);
        QCOMPARE(second->findChild<QLineEdit*>()->echoMode(), QLineEdit::Normal);
        answer(second, u"123456"_s);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
        QVERIFY2(report().node.facts, report().node.message.c_str());
    }

    void aQuestionGoesAwayWithItsCheck() {
        const SshServer server({"right", {}});
        serve("fresh", server);
        add(u"fresh"_s);
        const QPointer<TrustDialog> asked = dialog<TrustDialog>();
        m_page->checks().cancel(1);
        QTRY_VERIFY(!asked || !asked->isVisible());
        QCOMPARE(m_page->checks().phase(1), CheckPhase::Idle);
    }

    void twoMachinesAskOneAfterTheOther() {
        const SshServer one({"right", {}}), two({"right", {}});
        serve("one", one);
        serve("two", two);
        add(u"one"_s);
        add(u"two"_s);
        auto* first = dialog<TrustDialog>();
        QTest::qWait(200);
        int shown = 0;
        for (const QWidget* window : QApplication::topLevelWidgets())
            shown += window->isVisible() && qobject_cast<const TrustDialog*>(window);
        QCOMPARE(shown, 1);
        const QPointer<QDialog> before = first;
        first->reject();
        dialog<TrustDialog>(before)->reject();
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kCheckMs);
    }

    void whatIsFoundIsSaidInTheAppsLanguage() {
        struct Other : QTranslator {
            QString translate(const char* context, const char* text, const char*, int) const override {
                const bool is_it =
                    qstrcmp(context, "NodeFindings") == 0 && QByteArray(text).contains("refused");
                return is_it ? u"abgelehnt von %1, Port %2"_s : QString();
            }
            bool isEmpty() const override { return false; }
        } other;
        NodeReport refused;
        refused.found(NodeVerdict::Unreachable, {"refused", {"gpu1", "22"}});
        NodeReport theirs;
        theirs.state = NodeVerdict::Unreachable;
        theirs.message = "somebody else's words";
        QCoreApplication::installTranslator(&other);
        remember({refused, theirs});
        table()->selectRow(1);
        QVERIFY2(said().contains(u"abgelehnt von gpu1, Port 22"_s), qPrintable(said()));
        table()->selectRow(2);
        QVERIFY(said().contains(u"somebody else's words"_s));
        QCoreApplication::removeTranslator(&other);
    }

    void noWordOfTheTableIsCut_data() {
        QTest::addColumn<double>("ems");
        for (const double ems : {38.0, 44.0, 52.0, 64.0, 100.0}) QTest::addRow("%g ems wide", ems) << ems;
    }
    void noWordOfTheTableIsCut() {
        QFETCH(double, ems);
        NodeReport used = ready(), old = ready();
        used.found(NodeVerdict::Warning, {"gpu-in-use", {"3", "bob", "61.0 GiB"}});
        used.facts->gpus = {8, NodeGpu{0, "NVIDIA H100 80GB HBM3", int64_t(80) << 30, 0, {}}};
        old.found(NodeVerdict::Unusable, {"no-glibc", {"2.34"}});
        remember({used, old, ready()});
        m_page->resize(space(ems), space(34));
        QTest::qWait(50);
        const QFontMetrics metrics(table()->font());
        QVERIFY(table()->horizontalHeader()->length() <= table()->viewport()->width());
        for (int row = 1; row < table()->model()->rowCount(); ++row) {
            for (int column = 0; column < NodesModel::Columns; ++column) {
                const QModelIndex cell = table()->model()->index(row, column);
                const QString text = cell.data().toString();
                if (table()->isColumnHidden(column) || text.isEmpty()) continue;
                const bool has_icon = cell.data(Qt::DecorationRole).isValid();
                const int width =
                    table()->columnWidth(column) - 8 - (has_icon ? table()->iconSize().width() + 4 : 0);
                const QRect lines =
                    metrics.boundingRect(QRect(0, 0, width, QWIDGETSIZE_MAX), Qt::TextWordWrap, text);
                QVERIFY2(lines.width() <= width && lines.height() <= table()->rowHeight(row),
                         qPrintable(text));
            }
        }
    }

    void aMachineWithoutLibTorchOffersBothWays() {
        NodeReport bare = ready(), no_python = ready();
        bare.found(NodeVerdict::Unusable, {"no-libtorch", {"2.11.0"}});
        no_python.found(NodeVerdict::Unusable, {"no-libtorch-no-pip", {"2.11.0"}});
        remember({bare, no_python, ready()});
        table()->selectRow(1);
        QVERIFY(button("installLibTorchButton")->isVisible() && button("sendLibTorchButton")->isVisible());
        QVERIFY(!said().contains(u"--libtorch"_s));
        table()->selectRow(2);
        QVERIFY(!button("installLibTorchButton")->isVisible() && button("sendLibTorchButton")->isVisible());
        table()->selectRow(3);
        QVERIFY(!button("installLibTorchButton")->isVisible() && !button("sendLibTorchButton")->isVisible());
    }

    void whatATrialFoundStandsBesideTheOtherChecks() {
        NodeReport tried = ready();
        tried.deep = DeepReport{"2.11.0", {"attention"}, 1.5, unix_now(), "a", "eth0", "10.0.0.7", {}};
        tried.deep->links = {{"b", 1.25e9, 42e-6}, {"c", 0, 0, "nobody answered"}};
        remember({tried, ready()});
        table()->selectRow(1);
        QString facts;
        for (const QLabel* label : m_page->findChild<NodeDetails*>()->findChildren<QLabel*>())
            facts += label->text() + u"\n"_s;
        for (const QString& part : {u"Self-test"_s, u"eth0"_s, u"10.0.0.7"_s, u"Link with b"_s,
                                    u"1.25 GB/s"_s, u"42 µs"_s, u"nobody answered"_s})
            QVERIFY2(facts.contains(part), qPrintable(part + u" is not in "_s + facts));
    }

    void aTrialIsOfAllThatCanTrainAndCalledOffForAll() {
        const Listener one, two;
        QVERIFY(!button("tryOutButton")->isEnabled());
        NodeReport unusable = ready();
        unusable.found(NodeVerdict::Unusable, {"no-sha256sum"});
        remember({ready(), ready(), unusable}, {one.port(), two.port(), 1});
        QVERIFY(button("tryOutButton")->isEnabled());
        QTest::mouseClick(button("tryOutButton"), Qt::LeftButton);
        NodeChecks& checks = m_page->checks();
        QTRY_COMPARE(checks.phase(1), CheckPhase::Checking);
        QCOMPARE(checks.phase(2), CheckPhase::Checking);
        QCOMPARE(checks.phase(3), CheckPhase::Idle);
        QVERIFY(!button("tryOutButton")->isEnabled());
        checks.cancel(2);
        QCOMPARE(checks.phase(1), CheckPhase::Idle);
        QCOMPARE(checks.phase(2), CheckPhase::Idle);
        QVERIFY(checks.entry(1).last->node.can_train());
    }

    void aSizeOfMemorySaysWhoseItIs() {
        SavedTarget entry;
        entry.last.emplace().node = ready();
        NodeFacts& facts = *entry.last->node.facts;
        facts.memory_bytes = int64_t{1024} << 30;
        facts.available_bytes = int64_t{981} << 30;
        const auto words = [&] {
            return memoryWords(entry).replace(QChar(0x202f), u' ').replace(QChar::Nbsp, u' ').remove(u',');
        };
        QCOMPARE(words(), u"981 GiB of 1024 GiB RAM free"_s);
        facts.gpus.resize(8);
        facts.gpus[0].memory_bytes = int64_t{80} << 30;
        QCOMPARE(words(), u"80.0 GiB per GPU"_s);
        entry.target.kind = TargetKind::Slurm;
        entry.last->partitions = {{"gpu", true, true, "1:00:00", 12, 4, "gpu:4", 96, int64_t{1024} << 30},
                                  {"cpu", false, true, "1:00:00", 40, 40, "", 64, int64_t{512} << 30}};
        QCOMPARE(words(), u"at least 512 GiB RAM per node"_s);
        QVERIFY(deviceWords(entry).startsWith(u"44 of 52"_s));
    }

    void serverTextIsWithoutWhatChangesHowItIsRead() {
        QCOMPARE(shownServerText("a\x07\x1b[2J\xe2\x80\xae evil\nb\r"), u"a[2J evil\nb"_s);
        QVERIFY(shownServerText(std::string(100000, 'x')).size() < 3000);
    }

  private:
    static NodeReport ready() {
        NodeReport report;
        report.facts.emplace();
        report.found(NodeVerdict::Ready, {"ready", {"8", "1 GiB", "2 GiB", "3 GiB"}});
        return report;
    }
    /// Stores machines with these checks, as if the app had made the checks earlier.
    void remember(const std::vector<NodeReport>& reports, const std::vector<int>& ports = {}) {
        m_page.reset();
        std::vector<SavedTarget> entries(1);
        for (size_t i = 0; i < reports.size(); ++i) {
            const std::string port = std::to_string(ports.empty() ? int(i) + 1 : ports[i]);
            entries.push_back({ssh_target(("127.0.0.1:" + port).c_str()), TargetReport{reports[i], {}, 1}});
        }
        write_saved_targets(saved_targets_file(m_session->places()), entries);
        open();
    }
    void open() {
        if (!m_session) m_session = std::make_unique<Session>(find_places());
        m_page = std::make_unique<NodesPage>(*m_session);
        auto* prompts = new LoginPrompts(m_page.get());
        m_session->setPeople(
            [prompts](std::function<bool()> given_up) { return prompts->person(std::move(given_up)); });
        m_page->resize(900, 600);
        m_page->show();
    }

    static QStringList filesBelow(const QString& folder) {
        QStringList files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.toStdString()))
            if (entry.is_regular_file()) files << QString::fromStdString(entry.path().string());
        return files;
    }

    void serve(const char* name, const SshServer& server) {
        m_config +=
            u"Host %1\n  HostName 127.0.0.1\n  Port %2\n"_s.arg(QString::fromLatin1(name)).arg(server.port());
        const QString all =
            u"Host *\n  UserKnownHostsFile %1\n  GlobalKnownHostsFile none\n  IdentityFile /nowhere\n"
            "  ConnectTimeout 5\n"_s.arg(m_home.path("known_hosts"));
        m_home.write("ssh_config", (m_config + all).toUtf8());
    }

    void type(const QString& name) {
        auto* host = m_page->findChild<QComboBox*>(u"targetHost"_s);
        host->setEditText({});
        host->setFocus();
        QTest::keyClicks(host->lineEdit(), name);
    }
    void add(const QString& name) {
        type(name);
        QTest::mouseClick(button("addTargetButton"), Qt::LeftButton);
        QCOMPARE(QString::fromStdString(m_page->checks().entry(m_page->checks().count() - 1).target.host),
                 name);
    }
    static void answer(PromptDialog* asked, const QString& text) {
        QTest::keyClicks(asked->findChild<QLineEdit*>(), text);
        QTest::mouseClick(asked->findChild<QPushButton*>(u"answerButton"_s), Qt::LeftButton);
    }

    QPushButton* button(const char* name) const {
        return m_page->findChild<QPushButton*>(QString::fromLatin1(name));
    }
    QTableView* table() const { return m_page->findChild<QTableView*>(u"nodesTable"_s); }
    QString said() const { return m_page->findChild<Banner*>(u"nodeBanner"_s)->text(); }
    const TargetReport& report() const { return *m_page->checks().entry(1).last; }

    /// Waits for a question on the screen that is not `before`, and returns it.
    template <class Kind>
    Kind* dialog(const QPointer<QDialog>& before = {}) const {
        Kind* found = nullptr;
        [[maybe_unused]] const bool came = QTest::qWaitFor(
            [&] {
                for (QWidget* window : QApplication::topLevelWidgets()) {
                    auto* one = qobject_cast<Kind*>(window);
                    if (one && one->isVisible() && one != before.data()) found = one;
                }
                return found != nullptr;
            },
            kCheckMs);
        if (found == nullptr) qFatal("nobody asked; the page says: %s", qPrintable(said()));
        return found;
    }

    OwnHome m_home;
    QString m_config;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<NodesPage> m_page;
};

QTEST_MAIN(NodesTest)
#include "nodes_test.moc"
