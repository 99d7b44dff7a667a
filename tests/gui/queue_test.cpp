// Tests the Queue page: its runs are moved with the mouse and the keyboard, and a sweep is added.
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "engine/events/file_lock.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/launch_form.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/look/run_mark.h"
#include "gui/queue/parallel_plot.h"
#include "gui/queue/queue_dialog.h"
#include "gui/queue/queue_page.h"
#include "gui/queue/queue_table.h"
#include "tests/gui/test_runs.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 30000;

const char* const kConfig =
    "base_model: model\nreinit_weights: true\ndatasets:\n  - path: rows.jsonl\n    ds_type: json\n    type: "
    "''\nsequence_len: 64\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\nmax_steps: 4\n"
    "optimizer: adamw_torch\nlearning_rate: 0.001\noutput_dir: out\n";

const char* const kModel =
    R"({"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":64,"intermediate_size":112,)"
    R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":256,)"
    R"("max_position_embeddings":512,"rms_norm_eps":1e-6,"rope_theta":10000.0,"tie_word_embeddings":false,"hidden_act":"silu"})";

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

class QueueTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() {
        QCoreApplication::setOrganizationName(u"ringmaster-test"_s);
        applyAppearance(Appearance::Light);
        m_home = std::make_unique<TestHome>();
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_home->dir.path());
        m_home->places.programs_dir = RINGMASTER_BIN;
        // The process that starts queued runs reads another folder, which is empty, so it starts none.
        qputenv("XDG_DATA_HOME", m_home->dir.filePath(u"empty"_s).toLocal8Bit());
        m_session = std::make_unique<Session>(m_home->places);
        m_page = std::make_unique<QueuePage>(*m_session);
        m_page->resize(900, 600);
    }
    void cleanup() {
        m_page.reset();
        m_session.reset();
    }

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

    void aSweepIsAddedAndItsKeysHaveColumns() {
        m_page->offer(writeTiny());
        show();
        QTest::mouseClick(button("firstQueueButton"), Qt::LeftButton);
        auto* dialog = m_page->findChild<QueueDialog*>();
        QTRY_VERIFY(dialog && dialog->isVisible());
        auto* sweep = dialog->findChild<QPlainTextEdit*>(u"queueSweep"_s);
        auto* add = dialog->findChild<QPushButton*>(u"queueAddButton"_s);
        QTest::mouseClick(sweep->viewport(), Qt::LeftButton);
        QTest::keyClicks(sweep, u"learning_rate"_s);
        QTest::mouseClick(add, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog->isBusy(), kPatienceMs);
        const QPointer problem = dialog->findChild<Banner*>(u"queueProblem"_s);  // deleted with the dialog
        QVERIFY(problem->isVisible());                                           // a sweep needs values
        QVERIFY2(problem->text().contains(u"“learning_rate” of the sweep cannot be used"_s),
                 qPrintable(problem->text()));
        QTRY_COMPARE(QApplication::focusWidget(), sweep);
        QVERIFY(sweep->geometry().bottom() < dialog->findChild<QLineEdit*>(u"queueName"_s)->y());
        QTest::keyClicks(sweep, u"=[0.001, 0.002]"_s);
        QTest::mouseClick(add, Qt::LeftButton);
        QVERIFY(dialog->isBusy());
        const auto refused = [&problem] { return problem && problem->isVisible(); };
        QTRY_VERIFY_WITH_TIMEOUT(names().size() == 2 || refused(), kPatienceMs);
        QVERIFY2(!refused(), qPrintable(problem ? problem->text() : QString()));
        QTRY_COMPARE_WITH_TIMEOUT(table()->rowCount(), 2, kPatienceMs);
        QCOMPARE(m_page->focusWidget(), table());
        QCOMPARE(table()->horizontalHeaderItem(QueueTable::FixedColumns)->text(), u"learning_rate"_s);
        QCOMPARE(table()->item(1, QueueTable::FixedColumns)->text(), u"0.002"_s);
        QVERIFY(names().back().endsWith(u"-2"_s));
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

    void aKeysTitleIsReadWhole() {
        QueueTable shown;
        shown.resize(space(46), space(20));
        const std::vector<std::string> keys{"gradient_accumulation_steps", "learning_rate"};
        std::vector<std::pair<QueuedRun, RunSummary>> runs(2);
        for (auto& [queued, run] : runs) {
            queued.set = {{keys[0], "1"}, {keys[1], "1e-5"}};
            run.name = "longdocs-128k-evaluation-7";
            run.step = 40;
            run.total_steps = 1000;
            run.loss = 2.3918;
        }
        shown.setRuns(runs, {{}, {}}, keys);
        shown.show();
        QVERIFY(QTest::qWaitForWindowExposed(&shown));
        const auto* header = shown.horizontalHeader();
        const QString title = shown.horizontalHeaderItem(QueueTable::FixedColumns)->text();
        QCOMPARE(title, u"gradient_\naccumulation_steps"_s);
        QVERIFY(header->sectionSize(QueueTable::FixedColumns) >=
                header->fontMetrics().size(0, title).width());
        QVERIFY(header->height() >= 2 * header->fontMetrics().height());
        QCOMPARE(shown.horizontalScrollBar()->maximum(), 0);
        shown.resize(space(90), space(20));
        QTRY_COMPARE(shown.horizontalHeaderItem(QueueTable::FixedColumns)->text(),
                     QString::fromStdString(keys[0]));
        QCOMPARE(header->length(), shown.viewport()->width());
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

    void theColoursOfASweepAreExplained() {
        sweep();
        show();
        auto* plot = m_page->findChild<ParallelPlot*>(u"parallelPlot"_s);
        QTRY_VERIFY_WITH_TIMEOUT(plot->isVisible(), kPatienceMs);
        const Colours c = coloursOf(plot);
        const QImage foot =
            plot->grab().toImage().copy(0, plot->height() - space(1.2), plot->width(), space(1.2));
        const auto holds = [&foot](const QColor& colour) {
            for (int x = 0; x < foot.width(); ++x) {
                const QColor there = foot.pixelColor(x, foot.height() / 2);
                const int off = std::abs(there.red() - colour.red()) + std::abs(there.blue() - colour.blue());
                if (off < 12) return true;
            }
            return false;
        };
        QVERIFY(holds(c.accent) && holds(mixed(c.accent, c.muted, 0.5)) && holds(c.warning));
    }

    void theLossOfARunningRunIsSaidNotToBeFinal() {
        std::vector<std::pair<QueuedRun, RunSummary>> runs(2);
        for (auto& [queued, run] : runs) {
            queued.set = {{"learning_rate", "1e-5"}};
            run.dir = &run == &runs[0].second ? "/runs/a" : "/runs/b";
            run.loss = 2.5;
            run.state.state = RunPhase::Completed;
        }
        runs[1].second.state.state = RunPhase::Running;
        ParallelPlot plot;
        plot.setPicture(sweep_picture(runs, {"learning_rate"}));
        plot.choose(u"/runs/a"_s);
        QVERIFY(!plot.accessibleDescription().contains(u"not finished"_s));
        plot.choose(u"/runs/b"_s);
        QVERIFY(plot.accessibleDescription().contains(u"not finished"_s));
    }

    void theResultsOfASweepAreALineForEachRun() {
        sweep();
        show();
        auto* plot = m_page->findChild<ParallelPlot*>(u"parallelPlot"_s);
        QTRY_VERIFY_WITH_TIMEOUT(plot->isVisible(), kPatienceMs);
        QCOMPARE(plot->shown().size(), size_t(4));
        QCOMPARE(plot->chosen(), table()->chosenDir());
        // A click on a line chooses its run in the table, too.
        QTest::mouseClick(plot, Qt::LeftButton, {}, between(plot, 3));
        QCOMPARE(QFileInfo(table()->chosenDir()).fileName(), u"d"_s);
        QCOMPARE(plot->chosen(), table()->chosenDir());
        // A drag along the second axis keeps the two runs whose rank is 16.
        const QPoint top = plot->pointOf(2, 1).toPoint(), foot = plot->pointOf(0, 1).toPoint();
        QCOMPARE(plot->pointOf(3, 1).toPoint(), top);
        QTest::mousePress(plot, Qt::LeftButton, {}, top - QPoint(0, 4));
        QTest::mouseMove(plot, (top + foot) / 2);
        QTest::mouseRelease(plot, Qt::LeftButton, {}, (top + foot) / 2);
        QCOMPARE(plot->shown(), (std::vector<QString>{path("c"), path("d")}));
        QVERIFY(plot->accessibleDescription().contains(u"2 run(s) shown"_s));
        QVERIFY(plot->accessibleDescription().contains(u"Limited by lora_r."_s));
        QTest::keyClick(plot, Qt::Key_Escape);
        QCOMPARE(plot->shown().size(), size_t(4));
    }

    void theResultsOfASweepAreReadByKeyboard() {
        sweep();
        show();
        auto* plot = m_page->findChild<ParallelPlot*>(u"parallelPlot"_s);
        QTRY_VERIFY_WITH_TIMEOUT(plot->isVisible(), kPatienceMs);
        table()->setFocus();
        for (int tabs = 0; tabs < 20 && !plot->hasFocus(); ++tabs)
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QVERIFY(plot->hasFocus());
        QCOMPARE(plot->chosen(),
                 // The order is that of the table. d has the lowest loss, then c, b and a.
                 path("a"));
        for (int down = 0; down < 4; ++down) QTest::keyClick(plot, Qt::Key_Down);
        QCOMPARE(plot->chosen(), path("d"));
        QTest::keyClick(plot, Qt::Key_Up);
        QCOMPARE(plot->chosen(), path("c"));
        QCOMPARE(table()->chosenDir(), path("c"));
        QVERIFY2(plot->accessibleDescription().startsWith(u"c: learning_rate 0.0004, lora_r 16, Loss "_s),
                 qPrintable(plot->accessibleDescription()));
        QTest::keyClick(plot, Qt::Key_Right);
        QTest::keyClick(plot, Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(plot->shown(), (std::vector<QString>{path("a"), path("b")}));
        QTest::keyClick(plot, Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(plot->shown(), (std::vector<QString>{path("c"), path("d")}));
        QSignalSpy opened(m_session.get(), &Session::openRun);
        QTest::keyClick(plot, Qt::Key_Return);
        QCOMPARE(opened.size(), 1);
        QCOMPARE(opened[0][0].toString(), path("c"));
    }

    void aQueueWithoutASweepHasNoResults() {
        queue({"a", "b"});
        show();
        QVERIFY(!m_page->findChild<ParallelPlot*>(u"parallelPlot"_s)->isVisible());
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

    void placesAreByNumberOrByName() {
        const auto runs = [](const std::vector<std::string>& values) {
            std::vector<std::pair<QueuedRun, RunSummary>> made;
            for (const std::string& value : values) {
                made.emplace_back();
                made.back().first.set["key"] = value;
                made.back().second.loss = double(made.size());
            }
            return sweep_picture(made, {"key"});
        };
        const auto place = [](const SweepPicture& picture, size_t line) {
            return picture.lines[line].places[0];
        };
        const SweepPicture linear = runs({"1", "2", "5"}), logarithmic = runs({"1e-5", "1e-4", "0.001"}),
                           names = runs({"cosine", "linear", "constant"});
        QCOMPARE(place(linear, 1), std::optional(0.25));
        QVERIFY(std::abs(*place(logarithmic, 1) - 0.5) < 1e-9);
        QCOMPARE(place(names, 2), std::optional(0.0));
        QCOMPARE(place(names, 0), std::optional(0.5));
        QVERIFY(runs({"1"}).axes.empty());
        QCOMPARE(linear.axes.size(), size_t(2));
        QCOMPARE(linear.lines[2].places[1], std::optional(1.0));
    }

  private:
    /// Writes a configuration with its model and rows, and returns its path.
    QString writeTiny() const {
        const std::string at = m_home->dir.path().toStdString();
        write_text(at + "/model/config.json", kModel);
        write_text(at + "/tiny.yaml", kConfig);
        std::string rows;
        for (int row = 0; row < 12; ++row)
            rows += R"({"input_ids":[1,5,9,7],"labels":[-100,5,9,7]})"
                    "\n";
        write_text(at + "/rows.jsonl", rows);
        return QString::fromStdString(at + "/tiny.yaml");
    }

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

    /// Queues four completed runs, "a" to "d", over two learning rates and two ranks of LoRA.
    void sweep() const {
        const std::vector<std::tuple<std::string, double, std::string>> runs = {
            {"a", 1e-4, "8"}, {"b", 2e-4, "8"}, {"c", 4e-4, "16"}, {"d", 8e-4, "16"}};
        for (const auto& [name, rate, rank] : runs) {
            TestRun run{name};
            run.learning_rate = rate;
            m_home->add(run);
        }
        change_queue(folder(), [&](Queue& queue) {
            for (const auto& [name, rate, rank] : runs) {
                const std::string text = QByteArray::number(rate, 'g', 3).toStdString();
                queue.runs.push_back(
                    {{m_home->places.runs_dir / name}, 0, {{"learning_rate", text}, {"lora_r", rank}}});
            }
        });
    }
    QString path(const char* name) const { return m_home->path(QString::fromLatin1(name)); }

    /// Returns a point on a run's line that is far from the other lines.
    static QPoint between(const ParallelPlot* plot, size_t line) {
        return (plot->pointOf(line, 0) * 0.9 + plot->pointOf(line, 1) * 0.1).toPoint();
    }

    std::filesystem::path folder() const { return queue_folder(m_home->places); }

    void enqueue(const std::string& name) const {
        change_queue(folder(), [&](Queue& queue) {
            queue.runs.push_back({{m_home->places.runs_dir / name}, 0, {}});
        });
    }

    void queue(const std::vector<std::string>& names) const {
        for (const std::string& name : names) {
            TestRun run{name};
            run.phase = RunPhase::Queued;
            run.steps = 0;
            m_home->add(run);
            enqueue(name);
        }
    }

    void show() {
        m_page->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_page.get()));
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatienceMs);
    }

    QStringList names() const {
        QStringList found;
        for (const QueuedRun& one : read_queue(folder()).runs)
            found << QString::fromStdString(one.run.name());
        return found;
    }
    QStringList shownNames() {
        QStringList found;
        for (int row = 0; row < table()->rowCount(); ++row)
            found << table()->item(row, QueueTable::Name)->text();
        return found;
    }

    QueueTable* table() { return m_page->findChild<QueueTable*>(u"queueTable"_s); }
    QPushButton* button(const char* name) {
        auto* found = m_page->findChild<QPushButton*>(QString::fromLatin1(name));
        if (!found) qFatal("there is no button %s", name);
        return found;
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

    std::unique_ptr<TestHome> m_home;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<QueuePage> m_page;
};

QTEST_MAIN(QueueTest)
#include "queue_test.moc"
