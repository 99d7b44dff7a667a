// Tests jobs on their own thread, and the launch dialog with its form. A job reports in order, can be
// cancelled, can fail, and never outlives its listener.
#include <QSignalSpy>
#include <QTest>
#include <QThread>

#include "engine/error.h"
#include "gui/launch/launch_dialog.h"
#include "gui/launch/launch_form.h"
#include "gui/launch/stepper.h"
#include "gui/look/card.h"
#include "gui/look/look.h"
#include "gui/session/failure_words.h"
#include "gui/session/job.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QRadioButton>
#include <QScreen>
#include <QScrollBar>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTranslator>

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

class LaunchTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_home.isValid());
        qputenv("XDG_CONFIG_HOME", m_home.path().toLocal8Bit());
        qputenv("XDG_DATA_HOME", m_home.path().toLocal8Bit());
    }

    void aJobTellsItsPhasesProgressAndResultOnTheGuiThread() {
        struct Bracketed : QTranslator {
            QString translate(const char* context, const char* text, const char*, int) const override {
                return qstrcmp(context, "Progress") == 0 ? u'<' + QString::fromUtf8(text) + u'>' : QString();
            }
            bool isEmpty() const override { return false; }
        } bracketed;
        QCoreApplication::installTranslator(&bracketed);
        Job job([](const Job::Reporter& report) {
            report.phase(1);
            report.progress.report({"tokenize", {}, 3, 10});
            report.progress.report({"read", {"training on 100 %2"}});
            report.progress.report({"loading the model"});
            report.progress.warn("a warning");
            return u"result"_s;
        });
        QThread* told_on = nullptr;
        connect(&job, &Job::finished, this, [&] { told_on = QThread::currentThread(); });
        QSignalSpy phases(&job, &Job::phaseReached), progress(&job, &Job::progressed),
            warnings(&job, &Job::warned), finished(&job, &Job::finished), failed(&job, &Job::failed);
        job.start();
        QVERIFY(finished.wait());
        QCOMPARE(told_on, thread());
        QCOMPARE(phases.at(0).at(0).toInt(), 1);
        QCOMPARE(progress.at(0).at(2).toLongLong(), 10);
        QCOMPARE(progress.at(0).at(0).toString(), u"<tokenizing>"_s);
        QCOMPARE(progress.at(1).at(0).toString(), u"<reading training on 100 %2>"_s);
        // This step has no code, so it is not translated.
        QCOMPARE(progress.at(2).at(0).toString(), u"loading the model"_s);
        QCoreApplication::removeTranslator(&bracketed);
        QCOMPARE(warnings.at(0).at(0).toString(), u"a warning"_s);
        QCOMPARE(finished.at(0).at(0).toString(), u"result"_s);
        QCOMPARE(failed.count(), 0);
    }

    void aJobsErrorKeepsWhereAndWhatNext() {
        Job job([](const Job::Reporter&) -> QString {
            throw Error(Failure::Refused, Code("DISK-FULL"), "the disk is full", "/data", "free some");
        });
        QSignalSpy failed(&job, &Job::failed);
        job.start();
        QVERIFY(failed.wait());
        const auto failure = failed.at(0).at(0).value<JobFailure>();
        QCOMPARE(failure.what, u"the disk is full"_s);
        QCOMPARE(failure.where, u"/data"_s);
        QCOMPARE(failure.hint, u"free some"_s);
    }

    void aJobIsCancelledAndMayGoBeforeItsWork() {
        auto* job = new Job([](const Job::Reporter& report) -> QString {
            while (true) {
                report.progress.stop_if_cancelled();
                report.progress.report({"wait", {"nobody"}});
                QThread::msleep(2);
            }
        });
        QSignalSpy cancelled(job, &Job::cancelled), progress(job, &Job::progressed);
        job->start();
        QVERIFY(progress.wait());
        job->cancel();
        QVERIFY(cancelled.wait());
        delete job;
        job = new Job([](const Job::Reporter& report) -> QString {
            while (true) report.progress.stop_if_cancelled();
        });
        job->start();
        delete job;  // the job's work ends on its own
        QTest::qWait(50);
    }

    void aStepperShowsWhatIsDoneAtWorkAndStillToCome() {
        Stepper stepper({u"one"_s, u"two"_s, u"three"_s});
        stepper.reach(1);
        auto said = [&](int index) { return stepper.findChildren<QLabel*>()[3 * index]->accessibleName(); };
        QVERIFY(said(0).contains(u"done"_s));
        QVERIFY(said(1).contains(u"at work"_s));
        QVERIFY(said(2).contains(u"still to come"_s));
        stepper.reach(0);  // progress never goes backwards
        QCOMPARE(stepper.current(), 1);
        stepper.progress(u"connecting to gpu1"_s, 0, 0);
        const auto* detail = stepper.findChildren<QLabel*>()[5];
        QCOMPARE(detail->text(), u"connecting to gpu1"_s);
        stepper.fail();
        QVERIFY(said(1).contains(u"failed"_s));
        QCOMPARE(detail->text(), QString());  // nothing is connected to any more
    }

    void aConfigurationThatIsNotThereIsSaidInTheDialog() {
        Session session(find_places());
        LaunchDialog dialog(session);
        Request request;
        request.config = "/nowhere";
        for (int i = 0; i < 40; ++i) request.config += " with a long name";
        request.config += "/llama.yaml";
        dialog.launch(request);
        QTRY_VERIFY(!dialog.isBusy());
        QTRY_VERIFY(dialog.findChild<Banner*>()->isVisible());
        QVERIFY2(dialog.findChild<Banner*>()->text().contains(u"/llama.yaml"_s),
                 qPrintable(dialog.findChild<Banner*>()->text()));
        QVERIFY(dialog.findChild<QPushButton*>(u"closeLaunchButton"_s)->isVisible());
        QVERIFY(!dialog.findChild<QPushButton*>(u"cancelLaunchButton"_s)->isVisible());
        const auto shown = dialog.findChild<Stepper*>();
        QTRY_VERIFY(shown->height() >= shown->sizeHint().height());  // the phases keep their height
        for (const QLabel* label : shown->findChildren<QLabel*>())
            QTRY_VERIFY2(label->height() >= label->sizeHint().height(), qPrintable(label->text()));
    }

    void theFocusIsOnAButtonThatIsSeen() {
        Session session(find_places());
        LaunchDialog dialog(session);
        dialog.makeExample();
        QVERIFY(QTest::qWaitForWindowActive(&dialog));
        const auto* cancel = dialog.findChild<QPushButton*>(u"cancelLaunchButton"_s);
        QCOMPARE(QApplication::focusWidget(), cancel);
        applyAppearance(Appearance::Light);  // lays out the buttons again
        for (const QPushButton* button : dialog.findChildren<QPushButton*>())
            QCOMPARE(button->isVisible(), button == cancel);
        QTest::keyClick(&dialog, Qt::Key_Escape);
        QTRY_VERIFY(!dialog.isBusy());
    }

    void phasesFollowTheDestination() {
        using enum LaunchPhase;
        const std::vector<LaunchPhase> here{Check, Prepare, Start, Meet, FirstStep};
        const std::vector<LaunchPhase> nodes{Connect, Check, Prepare, Send, Start, Meet, FirstStep};
        const std::vector<LaunchPhase> cluster{Connect, Check, Prepare, Send, Start, Queue, Meet, FirstStep};
        QCOMPARE(launchPhases({}), here);
        QCOMPARE(launchPhases({{"a"}, std::nullopt}), nodes);
        QCOMPARE(launchPhases({{"login"}, SlurmOptions()}), cluster);
    }

    void theFormIsReadyOnlyWithAWholeChoice() {
        writeRoster();
        Session session(find_places());
        LaunchForm form(session, request());
        QVERIFY(form.isReady());
        QVERIFY(form.choice()->preflight);
        QCOMPARE(form.choice()->restarts, 0);
        form.findChild<QSpinBox*>(u"restartsBox"_s)->setValue(3);
        QCOMPARE(requestOf(request(), *form.choice()).restarts, 3);
        form.findChild<QRadioButton*>(u"launchNodes"_s)->setChecked(true);
        QVERIFY(!form.isReady());
        QVERIFY(!form.problem().isEmpty());
        auto* nodes = form.findChild<QListWidget*>(u"launchNodeList"_s);
        QCOMPARE(nodes->count(), 2);
        nodes->item(1)->setCheckState(Qt::Checked);
        QVERIFY(form.isReady());
        QCOMPARE(form.choice()->to.nodes, std::vector<std::string>{"gpu2"});
        QCOMPARE(requestOf(request(), *form.choice()).restarts, 3);
        form.findChild<QLineEdit*>(u"runNameEdit"_s)->setText(u"../x"_s);
        QVERIFY(!form.isReady());
        form.findChild<QLineEdit*>(u"runNameEdit"_s)->clear();
        form.findChild<QCheckBox*>(u"preflightSwitch"_s)->setChecked(false);
        QCOMPARE(requestOf(request(), *form.choice()).preflight, Preflight::None);
    }

    void whoStartsAFailedRunAgainIsSaidForEveryDestination() {
        writeRoster();
        Session session(find_places());
        LaunchForm form(session, request());
        auto* restarts = form.findChild<QSpinBox*>(u"restartsBox"_s);
        auto* shrink = form.findChild<QCheckBox*>(u"shrinkSwitch"_s);
        const auto words = [&] { return form.findChild<QLabel*>(u"restartsWords"_s)->text(); };
        restarts->setValue(0);
        shrink->setChecked(true);
        QVERIFY2(words().contains(u"by the agent"_s), qPrintable(words()));
        form.findChild<QRadioButton*>(u"launchNodes"_s)->setChecked(true);
        auto* nodes = form.findChild<QListWidget*>(u"launchNodeList"_s);
        nodes->item(0)->setCheckState(Qt::Checked);
        nodes->item(1)->setCheckState(Qt::Unchecked);
        QVERIFY2(words().contains(u"on that machine"_s), qPrintable(words()));
        QVERIFY(shrink->isHidden());
        nodes->item(1)->setCheckState(Qt::Checked);
        QVERIFY2(words().contains(u"once it is closed"_s), qPrintable(words()));
        QVERIFY(!shrink->isHidden() && !shrink->isEnabled());
        QVERIFY(!requestOf(request(), *form.choice()).shrink);
        restarts->setValue(2);
        QVERIFY(shrink->isEnabled());
        QCOMPARE(requestOf(request(), *form.choice()).restarts, 2);
        QVERIFY(requestOf(request(), *form.choice()).shrink);
        form.findChild<QRadioButton*>(u"launchSlurm"_s)->setChecked(true);
        QVERIFY(restarts->isHidden() && shrink->isHidden());
        QCOMPARE(requestOf(request(), *form.choice()).restarts, 0);
    }

    void aRunThatOnlyAFollowerCouldRestartIsNotQueued() {
        writeRoster();
        Session session(places());
        LaunchDialog dialog(session);
        dialog.ask(request());
        auto* form = dialog.findChild<LaunchForm*>();
        auto* add = dialog.findChild<QPushButton*>(u"queueLaunchButton"_s);
        form->findChild<QRadioButton*>(u"launchNodes"_s)->setChecked(true);
        auto* nodes = form->findChild<QListWidget*>(u"launchNodeList"_s);
        nodes->item(0)->setCheckState(Qt::Checked);
        form->findChild<QSpinBox*>(u"restartsBox"_s)->setValue(2);
        QVERIFY(add->isEnabled());  // on a single machine, the agent restarts the run
        nodes->item(1)->setCheckState(Qt::Checked);
        QVERIFY(!add->isEnabled());
        const auto* why = form->findChild<QLabel*>(u"launchProblem"_s);
        QVERIFY2(why->isVisible() && why->text().contains(u"restarts to never"_s), qPrintable(why->text()));
        form->findChild<QSpinBox*>(u"restartsBox"_s)->setValue(0);
        QVERIFY(add->isEnabled() && !why->isVisible());
        dialog.close();
    }

    void aJobThroughALoginNodeSaysWhatComesFirst() {
        SavedTarget login;
        login.target = make_target(TargetKind::Slurm, "login1");
        write_saved_targets(saved_targets_file(find_places()), {login});
        Session session(find_places());
        LaunchForm form(session, request());
        form.findChild<QRadioButton*>(u"launchSlurm"_s)->setChecked(true);
        form.findChild<QComboBox*>(u"slurmLogin"_s)->setCurrentIndex(1);
        const auto* why = form.findChild<QLabel*>(u"launchProblem"_s);
        QVERIFY(!form.isReady() && form.problem().isEmpty());
        QVERIFY2(!why->isHidden() && why->text().contains(u"“Connect and show”"_s), qPrintable(why->text()));
    }

    void aMachineThatRefusesIsNamedOnceInASentence() {
        const NodeFinding refused{"refused", {"127.0.0.1", "1"}};
        const QString said = failureWords({{}, {}, {}, {}, {{u"127.0.0.1:1"_s, {}, {}, refused}}}).first;
        QCOMPARE(said, u"Connection refused by 127.0.0.1 port 1"_s);
    }

    void twoMachinesThatRefuseHaveSentencesOfTheirOwn() {
        const auto refused = [](const std::string& name) {
            return MachineFailure{QString::fromStdString(name), {}, {}, {"refused", {name, "22"}}};
        };
        QCOMPARE(failureWords({{}, {}, {}, {}, {refused("gpu1"), refused("gpu2")}}).first,
                 u"Connection refused by gpu1 port 22. Is sshd running there, on port 22?\n"
                 "Connection refused by gpu2 port 22. Is sshd running there, on port 22?"_s);
    }

    void aModelOrAdapterInTheOutputFolderIsWarnedOf() {
        const QDir folder(m_home.filePath(u"out"_s));
        QVERIFY(QDir().mkpath(folder.path()));
        for (const QString& name : {u"trainer_state.json"_s, u"model-00001-of-00002.safetensors"_s,
                                    u"adapter_model.safetensors"_s}) {
            QFile weights(folder.filePath(name));
            QVERIFY(weights.open(QIODevice::WriteOnly));
            weights.close();
            Session session(places());
            LaunchDialog dialog(session);
            dialog.ask(request());
            const auto* warnings = dialog.findChild<QLabel*>(u"launchWarnings"_s);
            QCOMPARE(warnings->text().contains(u"holds a model"_s), name.endsWith(u"safetensors"_s));
            QTest::mouseClick(dialog.findChild<QPushButton*>(u"cancelLaunchButton"_s), Qt::LeftButton);
            QTRY_VERIFY(!dialog.isVisible());
            QVERIFY(weights.remove());
        }
    }

    void aNameThatIsTakenIsSaidWithTheOneThatIsGiven() {
        Session session(places());
        LaunchDialog dialog(session);
        dialog.ask(request());
        auto* name = dialog.findChild<QLineEdit*>(u"runNameEdit"_s);
        const auto* warnings = dialog.findChild<QLabel*>(u"launchWarnings"_s);
        QTest::keyClicks(name, u"longdocs"_s);
        QVERIFY2(!warnings->text().contains(u"taken"_s), qPrintable(warnings->text()));
        const QDir runs(QString::fromStdString(session.places().runs_dir.string()));
        QVERIFY(QDir().mkpath(runs.filePath(u"longdocs"_s)));
        name->selectAll();
        QTest::keyClicks(name, u"longdocs"_s);
        QVERIFY2(warnings->text().contains(u"the run is called longdocs-2."_s), qPrintable(warnings->text()));
        QVERIFY(QDir(runs.filePath(u"longdocs"_s)).removeRecursively());
        QTest::mouseClick(dialog.findChild<QPushButton*>(u"cancelLaunchButton"_s), Qt::LeftButton);
    }

    void theNameThatIsShownIsGiven() {
        Session session(places());
        const QDir runs(QString::fromStdString(session.places().runs_dir.string()));
        const auto shown = [&] {
            const LaunchForm form(session, request());
            return form.findChild<QLineEdit*>(u"runNameEdit"_s)->placeholderText();
        };
        const QString first = shown();
        QVERIFY(QDir().mkpath(runs.filePath(first)));
        QCOMPARE(shown(), first + u"-2"_s);
        QVERIFY(QDir(runs.filePath(first)).removeRecursively());
    }

    void theWordsAboutThisMachineLeaveNoGap() {
        Session session(find_places());
        LaunchForm form(session, request());
        form.resize(space(44), space(50));
        form.show();
        const QList<QLabel*> labels = form.findChildren<QLabel*>();
        const auto words = std::find_if(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->text().startsWith(u"The ranks are processes"_s);
        });
        QVERIFY(words != labels.end());
        QTRY_COMPARE((*words)->height(), (*words)->heightForWidth((*words)->width()));
    }

    void aChoiceIsKeptForTheNextTime() {
        writeRoster();
        Session session(find_places());
        {
            LaunchForm form(session, request());
            chooseSlurm(form);
            form.keep();
        }
        LaunchForm form(session, request());
        QVERIFY(form.choice() && form.choice()->to.slurm);
        QCOMPARE(form.choice()->to.slurm->value("partition"), std::string("gpu"));
        QCOMPARE(form.choice()->to.slurm->value("mail-type"), std::string("END"));
        session.settings().remove(u"launch"_s);
    }

    void whatIsNoOptionOfSlurmIsSaid() {
        Session session(find_places());
        LaunchForm form(session, request());
        form.findChild<QRadioButton*>(u"launchSlurm"_s)->setChecked(true);
        for (const QString& line : {u"array=1-4"_s, u"no option"_s, u"time=soon"_s}) {
            form.findChild<QPlainTextEdit*>(u"slurmMore"_s)->setPlainText(line);
            QVERIFY2(!form.choice() && !form.problem().isEmpty(), qPrintable(line));
        }
    }

    void theScriptIsThatOfADryRunAndSeenBeforeItGoes() {
        Session session(places());
        LaunchDialog dialog(session);
        dialog.ask(request());
        auto* form = dialog.findChild<LaunchForm*>();
        auto* go = dialog.findChild<QPushButton*>(u"goLaunchButton"_s);
        chooseSlurm(*form);
        QVERIFY(!go->isEnabled());  // enabled only after the script is shown
        QTRY_VERIFY_WITH_TIMEOUT(go->isEnabled(), 20000);
        const QString shown = form->findChild<QPlainTextEdit*>(u"previewText"_s)->toPlainText();
        QVERIFY(shown.contains(u"#SBATCH --partition=\"gpu\""_s));
        const auto* text = form->findChild<QPlainTextEdit*>(u"previewText"_s);
        QTRY_VERIFY(!text->verticalScrollBar()->isVisible() ||
                    dialog.height() >=
                        std::min(dialog.screen()->availableGeometry().height() - space(3), space(46)));
        const QString printed = dryRun({u"--slurm"_s, u"partition=gpu"_s, u"--slurm"_s, u"time=4:00:00"_s,
                                        u"--slurm"_s, u"nodes=2"_s, u"--slurm"_s, u"mail-type=END"_s});
        QCOMPARE(shown.trimmed(), printed.trimmed());
        form->findChild<QLineEdit*>(u"slurmTime"_s)->setText(u"1:00:00"_s);
        QVERIFY(!go->isEnabled());
        dialog.close();
    }

    void theCommandsAreThoseOfADryRun() {
        Session session(places());
        LaunchForm form(session, request());
        form.findChild<QLineEdit*>(u"runNameEdit"_s)->setText(u"one"_s);
        auto* preview = form.findChild<QPlainTextEdit*>(u"previewText"_s);
        QTRY_VERIFY_WITH_TIMEOUT(preview->toPlainText().contains(u"torchrun --no-python"_s), 20000);
        QCOMPARE(preview->toPlainText().trimmed(), dryRun({u"--name"_s, u"one"_s}).trimmed());
    }

    void slurmsRefusalIsReadToItsEnd() {
        const QTemporaryDir programs;
        QFile sbatch(programs.filePath(u"sbatch"_s));
        QVERIFY(sbatch.open(QIODevice::WriteOnly));
        sbatch.write(
            "#!/bin/sh\ncat >/dev/null\nfor word in one two three; do echo \"sbatch: error: the $word "
            "limit of the account longdocs on the partition gpu is lower than the job asks for, ask its "
            "coordinator\" >&2; done\nexit 1\n");
        sbatch.close();
        sbatch.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
        const QByteArray path = qgetenv("PATH");
        qputenv("PATH", programs.path().toLocal8Bit() + ':' + path);
        Session session(places());
        LaunchDialog dialog(session);
        dialog.ask(request());
        chooseSlurm(*dialog.findChild<LaunchForm*>());
        auto* go = dialog.findChild<QPushButton*>(u"goLaunchButton"_s);
        QTRY_VERIFY_WITH_TIMEOUT(go->isEnabled(), 20000);
        QTest::mouseClick(go, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.isBusy(), 20000);
        qputenv("PATH", path);
        const auto banners = dialog.findChildren<Banner*>(Qt::FindDirectChildrenOnly);
        QCOMPARE(banners.size(), 1);
        QTRY_VERIFY(banners.front()->isVisible());
        const QString said = banners.front()->text();
        QVERIFY2(said.contains(u"the one limit"_s) && said.contains(u"the three limit"_s) &&
                     said.count(u"coordinator"_s) == 3,
                 qPrintable(said));
        const auto* label = banners.front()->findChild<QLabel*>();
        QTRY_VERIFY2(label->height() >= label->heightForWidth(label->width()),
                     qPrintable(QString::number(label->height())));
        for (const QLabel* step : dialog.findChild<Stepper*>()->findChildren<QLabel*>())
            QVERIFY2(step->height() >= step->fontMetrics().height(), qPrintable(step->text()));
    }

  private:
    Request request() {
        const QString file = m_home.filePath(u"llama.yaml"_s);
        if (!QFile::exists(file)) {
            QFile config(file);
            if (config.open(QIODevice::WriteOnly))
                config.write(
                    "base_model: meta-llama/Llama-3.2-1B\ndatasets:\n  - path: rows.jsonl\n    type: "
                    "completion\nsequence_len: 8192\nmicro_batch_size: 1\nlearning_rate: 1e-4\n"
                    "output_dir: ./out\n");
        }
        Request asked;
        asked.config = file.toStdString();
        asked.ranks = 2;
        asked.device = Device::Cpu;
        return asked;
    }

    /// Returns the build's places, with the real engine.
    static Places places() {
        Places real = find_places();
        real.programs_dir = RINGMASTER_BIN;
        real.share_dir = real.programs_dir.parent_path() / "share/ringmaster";
        return real;
    }

    static void writeRoster() {
        SavedTarget ready, unknown, cluster;
        ready.target = make_target(TargetKind::Ssh, "gpu1");
        ready.last.emplace();
        ready.last->node.state = NodeVerdict::Ready;
        ready.last->node.message = "8 × NVIDIA H100 (driver 550.54), 96 cores";
        unknown.target = make_target(TargetKind::Ssh, "gpu2");
        cluster.target.kind = TargetKind::Slurm;
        cluster.last.emplace();
        cluster.last->partitions = {{"gpu", true, true, "2-00:00:00", 12, 4, "gpu:h100:4", 96, 1 << 30}};
        write_saved_targets(saved_targets_file(find_places()), {ready, unknown, cluster});
    }

    static void chooseSlurm(LaunchForm& form) {
        form.findChild<QRadioButton*>(u"launchSlurm"_s)->setChecked(true);
        form.findChild<QComboBox*>(u"slurmPartition"_s)->setEditText(u"gpu"_s);
        form.findChild<QLineEdit*>(u"slurmTime"_s)->setText(u"4:00:00"_s);
        form.findChild<QSpinBox*>(u"slurmNodes"_s)->setValue(2);
        form.findChild<QPlainTextEdit*>(u"slurmMore"_s)->setPlainText(u"mail-type=END\n\n"_s);
    }

    QString dryRun(const QStringList& options) {
        QProcess launch;
        const Request asked = request();
        launch.start(QStringLiteral(RINGMASTER_BIN "/ringmaster"),
                     QStringList{u"launch"_s, QString::fromStdString(asked.config), u"--ranks"_s, u"2"_s,
                                 u"--device"_s, u"cpu"_s, u"--dry-run"_s} +
                         options);
        if (!launch.waitForFinished(30000) || launch.exitCode() != 0)
            qWarning("%s", launch.readAllStandardError().constData());
        return QString::fromUtf8(launch.readAllStandardOutput());
    }

    QTemporaryDir m_home;
};

QTEST_MAIN(LaunchTest)
#include "launch_test.moc"
