// Tests the Queue page: its runs are moved with the mouse and the keyboard, and run where the user chose.
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "engine/events/file_lock.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/launch_form.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/run_mark.h"
#include "gui/queue/queue_dialog.h"
#include "gui/queue/queue_page.h"
#include "gui/queue/queue_table.h"
#include "tests/gui/queue_fixture.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

/// Puts programs on the PATH that stand in for systemctl and loginctl. They act as for a user whose services
/// end at logout.
class PretendedSystemd {
  public:
    explicit PretendedSystemd(const QString& folder) : m_folder(folder), m_path(qgetenv("PATH")) {
        QDir(folder).mkpath(u"programs"_s);
        for (const char* name : {"systemctl", "loginctl"}) {
            const QString program = folder + u"/programs/"_s + QString::fromLatin1(name);
            write_text(program.toStdString(),
                       "#!/bin/sh\ncd '" + folder.toStdString() +
                           "'\n[ -e refuses ] && { echo No medium found >&2; exit 1; }\n"
                           "case $2 in enable) touch enabled ;; disable) rm -f enabled ;;\n"
                           "is-enabled) [ -e enabled ] ;; esac\n"
                           "[ $1 != show-user ] || echo no\n");
            QFile::setPermissions(program, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        }
        qputenv("PATH", (folder + u"/programs:"_s).toLocal8Bit() + m_path);
        qputenv("XDG_CONFIG_HOME", (folder + u"/config"_s).toLocal8Bit());
    }
    PretendedSystemd(const PretendedSystemd&) = delete;
    PretendedSystemd& operator=(const PretendedSystemd&) = delete;
    ~PretendedSystemd() {
        qputenv("PATH", m_path);
        qunsetenv("XDG_CONFIG_HOME");
    }
    void refuse() const { write_text(m_folder.toStdString() + "/refuses", ""); }
    bool hasUnit() const {
        return QFile::exists(m_folder + u"/config/systemd/user/ringmaster-queue.service"_s);
    }

  private:
    QString m_folder;
    QByteArray m_path;
};

/// Puts an sbatch on the PATH that accepts every job with --test-only, and submits none.
class PretendedSlurm {
  public:
    explicit PretendedSlurm(const QString& folder) : m_path(qgetenv("PATH")) {
        const QString program = folder + u"/slurm/sbatch"_s;
        write_text(program.toStdString(),
                   "#!/bin/sh\n[ \"$1\" = --test-only ] && exec cat >/dev/null\nexit 1\n");
        QFile::setPermissions(program, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("PATH", (folder + u"/slurm:"_s).toLocal8Bit() + m_path);
    }
    PretendedSlurm(const PretendedSlurm&) = delete;
    PretendedSlurm& operator=(const PretendedSlurm&) = delete;
    ~PretendedSlurm() { qputenv("PATH", m_path); }

  private:
    QByteArray m_path;
};

}  // namespace

class QueueTest : public QObject, private QueueFixture {
    Q_OBJECT

  private Q_SLOTS:
    void init() { open(); }
    void cleanup() { close(); }

    void anEmptyQueueSaysWhatItIsFor() {
        show();
        QVERIFY(button("firstQueueButton")->isVisible());
        QVERIFY(!button("addToQueueButton")->isVisible());
    }

    void aRowIsDraggedToAnotherPlace() {
        queue({"a", "b", "c"});
        show();
        drag(2, 0);
        QTRY_COMPARE_WITH_TIMEOUT(names(), QStringList({u"c"_s, u"a"_s, u"b"_s}), kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(shownNames(), names(), kPatienceMs);
        drag(0, 2);
        QTRY_COMPARE_WITH_TIMEOUT(names(), QStringList({u"a"_s, u"b"_s, u"c"_s}), kPatienceMs);
        QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, middleOf(1));
        QCOMPARE(names(), QStringList({u"a"_s, u"b"_s, u"c"_s}));  // a click moves no row
    }

    void keysMoveAndRemoveTheChosenRun() {
        queue({"a", "b", "c"});
        show();
        table()->setFocus();
        QTest::keyClick(table(), Qt::Key_Down, Qt::AltModifier);
        QTRY_COMPARE_WITH_TIMEOUT(shownNames(), QStringList({u"b"_s, u"a"_s, u"c"_s}), kPatienceMs);
        QCOMPARE(QFileInfo(table()->chosenDir()).fileName(), u"a"_s);
        QTest::keyClick(table(), Qt::Key_Up, Qt::AltModifier);
        QTRY_COMPARE_WITH_TIMEOUT(shownNames(), QStringList({u"a"_s, u"b"_s, u"c"_s}), kPatienceMs);
        QTest::keyClick(table(), Qt::Key_Delete);
        QTRY_COMPARE_WITH_TIMEOUT(shownNames(), QStringList({u"b"_s, u"c"_s}), kPatienceMs);
        QVERIFY(QDir(m_home->path(u"a"_s)).exists());
        QTest::mouseClick(button("queueDownButton"), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(names(), QStringList({u"c"_s, u"b"_s}), kPatienceMs);
    }

    void aRunThatTrainsIsNotRemoved() {
        TestRun running{"running"};
        running.phase = RunPhase::Running;
        running.live = true;
        m_home->add(running);
        enqueue("running");
        show();
        QSignalSpy said(m_session.get(), &Session::notice);
        QTest::mouseClick(button("queueRemoveButton"), Qt::LeftButton);
        QCOMPARE(said.size(), 1);
        QVERIFY(said[0][0].toString().contains(u"has been started"_s));
        QCOMPARE(names(), QStringList{u"running"_s});
        const auto labels = m_page->findChild<PageHeader*>()->findChildren<ElidedLabel*>();
        QVERIFY2(!labels.back()->fullText().contains(u"of them"_s), qPrintable(labels.back()->fullText()));
        const Colours colours = coloursOf(QApplication::palette());
        const QImage mark = table()->item(0, QueueTable::State)->icon().pixmap(64).toImage();
        QCOMPARE(mark.pixelColor(mark.rect().center()).name(), runColour(RunMark::Running, colours).name());
    }

    void aCompletedRunWhoseEventsEndEarlyIsMarked() {
        TestRun early{"early"};
        early.steps = 40;
        m_home->add(early);
        enqueue("early");
        show();
        QCOMPARE(table()->item(0, QueueTable::State)->text(), u"incomplete"_s);
        QCOMPARE(table()->item(0, QueueTable::State)->toolTip(),
                 u"Its events end at step 40, before the last."_s);
    }

    void theNumberOfRunsAtATimeIsKept() {
        queue({"a"});
        show();
        auto* slots_box = m_page->findChild<QSpinBox*>(u"slotsBox"_s);
        slots_box->setFocus();
        slots_box->selectAll();
        QTest::keyClicks(slots_box, u"3"_s);
        QTest::keyClick(slots_box, Qt::Key_Return);
        QCOMPARE(read_queue(folder()).slots, 3);
    }

    void aRunIsQueuedForThePlaceChosenInTheLaunchDialog() {
        const PretendedSlurm slurm(m_home->dir.path());
        m_home->places.share_dir = m_home->places.programs_dir.parent_path() / "share/ringmaster";
        m_session = std::make_unique<Session>(m_home->places);
        m_page = std::make_unique<QueuePage>(*m_session);
        m_page->resize(900, 600);
        LaunchDialog dialog(*m_session);
        Request request;
        request.config = writeTiny().toStdString();
        request.ranks = 2;
        request.device = Device::Cpu;
        queueFrom(dialog, request, "launchSlurm", [](LaunchForm& form) {
            auto* partition = form.findChild<QComboBox*>(u"slurmPartition"_s)->lineEdit();
            QTest::mouseClick(partition, Qt::LeftButton);
            QTest::keyClicks(partition, u"gpu"_s);
        });
        request.set.emplace_back("output_dir", (m_home->dir.path() + u"/second"_s).toStdString());
        queueFrom(dialog, request, "launchHere", [](LaunchForm& form) {
            auto* name = form.findChild<QLineEdit*>(u"runNameEdit"_s);
            QTest::mouseClick(name, Qt::LeftButton);
            QTest::keyClicks(name, u"second"_s);
        });
        const std::vector<QueuedRun> queued = read_queue(folder()).runs;
        QCOMPARE(queued.size(), size_t(2));
        QCOMPARE(queue_place(queued[0].run).partition, std::optional<std::string>("gpu"));
        show();
        QTRY_COMPARE_WITH_TIMEOUT(table()->rowCount(), 2, kPatienceMs);
        QCOMPARE(table()->item(0, QueueTable::Where)->text(), u"Slurm \u00B7 gpu"_s);
        QCOMPARE(table()->item(1, QueueTable::Where)->text(), u"here"_s);
        QCOMPARE(table()->item(1, QueueTable::Name)->text(), u"second"_s);
    }

    void theTableSaysWhereARunTrains() {
        QueueTable shown;
        const std::vector<QueuePlace> places{{},
                                             {{"gpu1", "gpu2"}, std::nullopt, true},
                                             {{}, "", false},
                                             {{}, "login:2222:gpu", true},
                                             {{}, "login:", true}};
        shown.setRuns(std::vector<std::pair<QueuedRun, RunSummary>>(places.size()), places, {});
        QStringList said;
        for (int row = 0; row < shown.rowCount(); ++row) said << shown.item(row, QueueTable::Where)->text();
        QCOMPARE(said, QStringList({u"here"_s, u"gpu1, gpu2"_s, u"Slurm"_s,
                                    u"Slurm \u00B7 login:2222 \u00B7 gpu"_s, u"Slurm \u00B7 login"_s}));
    }

    void theDialogSaysWhatItLacks() {
        QueueDialog dialog(*m_session, {});
        dialog.show();
        const auto says = [&dialog](const QString& words) {
            const auto labels = dialog.findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
                return label->isVisible() && label->text() == words;
            });
        };
        const QString why = u"Choose a configuration to add it."_s;
        const auto* add = dialog.findChild<QPushButton*>(u"queueAddButton"_s);
        QVERIFY(!add->isEnabled() && says(why));
        dialog.findChild<QLineEdit*>(u"queueFile"_s)->setText(u"a.yml"_s);
        QVERIFY(add->isEnabled() && !says(why) && says(u"1 run(s)"_s));
        auto* sweep = dialog.findChild<QPlainTextEdit*>(u"queueSweep"_s);
        sweep->setPlainText(u"learning_rate=[1e-4, 2e-4]\nlora_r=[8, 16, 32]"_s);
        QVERIFY(says(u"6 run(s)"_s));
        sweep->setPlainText(u"learning_rate=[1e-4, "_s);
        QVERIFY(add->isEnabled() && !says(u"6 run(s)"_s));
    }

    void aQueueThatStandsStillSaysWhy() {
        queue({"a", "b"});
        show();
        const auto* banner = m_page->findChild<Banner*>(u"queueStillBanner"_s);
        QTRY_VERIFY(banner->isVisible());
        QVERIFY(button("wakeQueueButton")->isVisible());
        const FileLock process(folder() / "queue-runner.lock");  // stands in for the queue's process
        QTRY_VERIFY_WITH_TIMEOUT(!banner->isVisible(), kPatienceMs);
        const auto labels = m_page->findChild<PageHeader*>()->findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(),
                            [](const QLabel* label) { return label->text().contains(u"being started"_s); }));
    }

    void theLastColumnIsNotCutByTheScrollBar() {
        QueueTable shown;
        shown.resize(space(33), space(8));
        std::vector<std::pair<QueuedRun, RunSummary>> runs(12);
        for (auto& [queued, run] : runs) {
            queued.set = {{"learning_rate", "1e-5"}};
            run.name = "longdocs-lr1e-5";
            run.step = run.total_steps = 1000;
            run.loss = 1.7243;
        }
        shown.setRuns(runs, std::vector<QueuePlace>(runs.size()), {"learning_rate"});
        shown.show();
        QVERIFY(QTest::qWaitForWindowExposed(&shown));
        QVERIFY(shown.verticalScrollBar()->maximum() > 0);
        QTRY_COMPARE(shown.horizontalScrollBar()->maximum(), 0);
        QVERIFY(shown.isColumnHidden(QueueTable::Where));
        shown.resize(space(60), space(8));
        QTRY_VERIFY(!shown.isColumnHidden(QueueTable::Where));
    }

    void aRunThatIsOverHasNoOtherPlace() {
        queue({"a", "b"});
        TestRun over{"over"};
        over.phase = RunPhase::Completed;
        m_home->add(over);
        enqueue("over");
        move_in_queue(folder(), {m_home->path(u"over"_s).toStdString()}, 0);
        show();
        QTRY_COMPARE_WITH_TIMEOUT(shownNames().size(), 3, kPatienceMs);
        table()->selectRow(0);
        QVERIFY(!button("queueDownButton")->isEnabled());
        table()->selectRow(1);
        QVERIFY(button("queueDownButton")->isEnabled() && button("queueUpButton")->isEnabled());
    }

    void theServiceIsSwitchedOnAndOff() {
        const PretendedSystemd systemd(m_home->dir.path());
        queue({"a"});
        show();
        auto* service = m_page->findChild<QCheckBox*>(u"queueServiceSwitch"_s);
        auto* note = m_page->findChild<QLabel*>(u"queueServiceNote"_s);
        QVERIFY(service->isVisible() && !service->isChecked() && !note->isVisible());
        QVERIFY(!systemd.hasUnit());
        service->setFocus();
        QTest::keyClick(service, Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(note->isVisible(), kPatienceMs);
        QVERIFY(service->isChecked() && systemd.hasUnit());
        QVERIFY2(note->text().contains(u"loginctl enable-linger"_s), qPrintable(note->text()));
        QCOMPARE(QApplication::focusWidget(), service);
        QTest::mouseClick(service, Qt::LeftButton, {}, {8, service->height() / 2});
        QTRY_VERIFY_WITH_TIMEOUT(!note->isVisible(), kPatienceMs);
        QVERIFY(!service->isChecked() && !systemd.hasUnit());
    }

    void aServiceThatCannotBeSwitchedSaysWhy() {
        const PretendedSystemd systemd(m_home->dir.path());
        systemd.refuse();
        queue({"a"});
        show();
        auto* service = m_page->findChild<QCheckBox*>(u"queueServiceSwitch"_s);
        auto* problem = m_page->findChild<Banner*>(u"queueServiceProblem"_s);
        QVERIFY(!problem->isVisible());  // nobody has switched the service on yet
        QTest::mouseClick(service, Qt::LeftButton, {}, {8, service->height() / 2});
        QTRY_VERIFY_WITH_TIMEOUT(problem->isVisible(), kPatienceMs);
        QVERIFY2(problem->text().contains(u"could not be switched on"_s) &&
                     problem->text().contains(u"No medium found"_s) &&
                     problem->text().contains(u"Nothing was changed"_s),
                 qPrintable(problem->text()));
        QVERIFY(!service->isChecked() && !systemd.hasUnit());
    }

  private:
    /// Chooses a place in the launch dialog with the mouse, calls `fill`, and presses Add to queue.
    static void queueFrom(LaunchDialog& dialog, const Request& request, const char* place,
                          const std::function<void(LaunchForm&)>& fill) {
        dialog.ask(request);
        QVERIFY(QTest::qWaitForWindowExposed(&dialog));
        auto* form = dialog.findChild<LaunchForm*>();
        auto* radio = form->findChild<QRadioButton*>(QString::fromLatin1(place));
        QTest::mouseClick(radio, Qt::LeftButton, {}, {8, radio->height() / 2});
        QVERIFY(radio->isChecked());
        fill(*form);
        auto* add = dialog.findChild<QPushButton*>(u"queueLaunchButton"_s);
        QTRY_VERIFY_WITH_TIMEOUT(add->isEnabled(), kPatienceMs);
        QSignalSpy queued(&dialog, &LaunchDialog::queued);
        QTest::mouseClick(add, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.isBusy(), kPatienceMs);
        QVERIFY2(queued.size() == 1, qPrintable(dialog.findChild<Banner*>()->text()));
        QVERIFY(!dialog.isVisible());
    }

    QPoint middleOf(int row) { return {40, table()->rowViewportPosition(row) + table()->rowHeight(row) / 2}; }

    /// Drags a row to the place of another row.
    void drag(int from, int to) {
        QWidget* at = table()->viewport();
        const int step = to > from ? 6 : -6;
        QTest::mousePress(at, Qt::LeftButton, {}, middleOf(from));
        QTest::mouseMove(at, (middleOf(from) + middleOf(to)) / 2);
        QTest::mouseMove(at, middleOf(to) + QPoint(0, step));
        QTest::mouseRelease(at, Qt::LeftButton, {}, middleOf(to) + QPoint(0, step));
    }
};

QTEST_MAIN(QueueTest)
#include "queue_test.moc"
