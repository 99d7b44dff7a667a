// Tests the Try it page without a model that generates; app_test has one. The page reports mistakes, and
// disables options that have no effect.
#include <QCheckBox>
#include <QDialog>
#include <QDir>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QTimer>

#include "gui/look/card.h"
#include "gui/try/try_page.h"
#include "tests/gui/test_runs.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 30000;

}  // namespace

class TryTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() {
        QCoreApplication::setOrganizationName(u"ringmaster-test"_s);
        m_home = std::make_unique<TestHome>();
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_home->dir.path());
        m_session = std::make_unique<Session>(m_home->places);
        m_page = std::make_unique<TryPage>(*m_session);
        m_page->resize(850, 650);
        m_page->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_page.get()));
    }
    void cleanup() {
        m_page.reset();
        m_session.reset();
    }

    void withoutAModelItOffersTheRunsThatCompleted() {
        TestRun failed{"failed"};
        failed.phase = RunPhase::Failed;
        m_home->add(failed);
        m_home->add({"done"});
        auto* choose = part<QPushButton>("tryFirstButton");
        QVERIFY(choose->isVisible());
        Q_EMIT choose->menu()->aboutToShow();
        QStringList offered;
        for (const QAction* action : choose->menu()->actions())
            if (!action->isSeparator()) offered << action->text();
        QCOMPARE(offered.size(), 2);
        QCOMPARE(offered.front(), u"done"_s);
        choose->menu()->actions().front()->trigger();
        QVERIFY(part<QPlainTextEdit>("promptEdit")->isVisible());
        QVERIFY(part<QPushButton>("tryShowRunButton")->isVisible());
        QVERIFY(!part<QPushButton>("mergeButton")->isVisible());  // all weights were trained
        QVERIFY(!part<QPushButton>("generateButton")->isEnabled());
    }

    void aFolderWithoutAModelIsRefusedInThePage() {
        QVERIFY(QDir(m_home->dir.path()).mkdir(u"nothing"_s));
        m_page->openModel(m_home->dir.filePath(u"nothing"_s));
        QVERIFY(!part<QCheckBox>("compareBox")->isEnabled());
        auto* prompt = part<QPlainTextEdit>("promptEdit");
        QTest::keyClicks(prompt, u"Once"_s);
        QVERIFY(part<QPushButton>("generateButton")->isEnabled());
        QTest::keyClick(prompt, Qt::Key_Return, Qt::ControlModifier);
        QVERIFY(!m_page->settled());
        QCOMPARE(prompt->toPlainText(), u"Once"_s);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatienceMs);
        auto* problem = part<Banner>("tryBanner");
        QVERIFY(problem->isVisible());
        QVERIFY2(problem->text().contains(u"holds neither a model nor an adapter"_s),
                 qPrintable(problem->text()));
        QVERIFY(part<SideBySide>("answers")->toPlainText().isEmpty());
    }

    void aDamagedRunIsSaidInThePage() {
        const RunDirectory run = m_home->add({"damaged"});
        write_text(run.plan(), "{");
        m_page->openModel(QString::fromStdString(run.dir.string()));
        QVERIFY(part<Banner>("tryBanner")->isVisible());
        QVERIFY(!part<QPushButton>("generateButton")->isEnabled());
    }

    void withTheMostProbableTokensNothingIsDrawn() {
        m_home->add({"done"});
        m_page->openModel(m_home->path(u"done"_s));
        auto* temperature = part<QDoubleSpinBox>("temperatureBox");
        QVERIFY(part<QSpinBox>("topKBox")->isEnabled() && part<QSpinBox>("seedBox")->isEnabled());
        temperature->setFocus();
        temperature->selectAll();
        QTest::keyClicks(temperature, u"0"_s);
        QVERIFY(!part<QSpinBox>("topKBox")->isEnabled() && !part<QSpinBox>("seedBox")->isEnabled());
        QVERIFY(!part<QDoubleSpinBox>("topPBox")->isEnabled());
    }

    void anAdapterCanBeMerged() {
        TestRun run{"adapter"};
        run.more = "adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\n";
        m_home->add(run);
        m_page->openModel(m_home->path(u"adapter"_s));
        QVERIFY(part<QPushButton>("mergeButton")->isVisible());
        QVERIFY(part<QCheckBox>("compareBox")->isEnabled());
    }

    void aModelIsUploadedToTheRepositoryThatIsTyped() {
        m_home->add({"done"});
        m_page->openModel(m_home->path(u"done"_s));
        bool asked = false;
        QTimer::singleShot(0, this, [&] {
            QTRY_VERIFY(m_page->findChild<QDialog*>(u"publishDialog"_s));
            auto* dialog = m_page->findChild<QDialog*>(u"publishDialog"_s);
            auto* name = dialog->findChild<QLineEdit*>(u"publishRepository"_s);
            auto* upload = dialog->findChild<QPushButton*>(u"publishUploadButton"_s);
            QTest::keyClicks(name, u"me"_s);
            const auto* lacks = dialog->findChild<QLabel*>(u"publishLacks"_s);
            QVERIFY(!upload->isEnabled() && lacks != nullptr && lacks->isVisible());
            QTest::keyClicks(name, u"/fox"_s);
            QVERIFY(upload->isEnabled() && !lacks->isVisible());
            QVERIFY(dialog->findChild<QCheckBox*>(u"publishPrivate"_s)->isChecked());
            QTest::mouseClick(upload, Qt::LeftButton);
            asked = true;
        });
        part<QPushButton>("publishButton")->menu()->actions().front()->trigger();
        QVERIFY(asked);
        QTRY_VERIFY_WITH_TIMEOUT(m_page->settled(), kPatienceMs);
        auto* problem = part<Banner>("tryBanner");
        QVERIFY(problem->isVisible());
        QVERIFY2(problem->text().contains(u"has not written its model here"_s), qPrintable(problem->text()));
    }

  private:
    template <class Widget>
    Widget* part(const char* name) {
        auto* found = m_page->findChild<Widget*>(QString::fromLatin1(name));
        if (!found) qFatal("there is no %s", name);
        return found;
    }

    std::unique_ptr<TestHome> m_home;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<TryPage> m_page;
};

QTEST_MAIN(TryTest)
#include "try_test.moc"
