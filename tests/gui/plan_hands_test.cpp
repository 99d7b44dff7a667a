// Uses the Plan page with wheel, mouse and keyboard: scrolling never edits, the Keep button keeps the batch,
// and Tab moves the focus.
#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QLocale>
#include <QScrollBar>
#include <QSlider>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTextBlock>
#include <QWheelEvent>

#include "engine/config/edit.h"
#include "gui/look/look.h"
#include "gui/session/session.h"
#include "tests/examples/files.h"
#include "tests/gui/plan_page_test.h"
#include "tests/plan/plans.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

const QString kText =
    u"base_model: meta-llama/Llama-3.2-1B\n"
    "datasets:\n"
    "  - path: someone/longdocs\n"
    "    type: completion\n"
    "sequence_len: 32768\n"
    "micro_batch_size: 1\n"
    "gradient_accumulation_steps: 8\n"
    "max_steps: 1000\n"
    "bf16: auto\n"
    "optimizer: adamw_torch\n"
    "learning_rate: 2e-5\n"
    "output_dir: ./out\n"_s;

Request eight_gpus() {
    Request request;
    request.ranks = 8;
    request.device = Device::Cuda;
    request.device_memory_bytes = int64_t{80} << 30;
    return request;
}

/// Turns the wheel with the pointer in the middle of a widget, as the window system would.
void wheel(QWidget* over, int notches) {
    const QPoint at = over->rect().center(), global = over->mapToGlobal(at);
    QWidget* hit = over->childAt(at) ? over->childAt(at) : over;
    for (int i = 0; i < std::abs(notches); ++i) {
        QWheelEvent event(hit->mapFromGlobal(global), global, {}, {0, notches > 0 ? 120 : -120}, Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        QSpontaneKeyEvent::setSpontaneous(&event);  // Qt passes only spontaneous events on to parents
        qApp->notify(hit, &event);
    }
}

}  // namespace

class PlanHandsTest : public PlanPageTest {
    Q_OBJECT

  private Q_SLOTS:
    void init() {
        QVERIFY(m_home.isValid());
        m_session = std::make_unique<Session>(find_places());
        m_page = std::make_unique<PlanPage>(*m_session);
        m_page->resize(1100, 620);
        m_page->QWidget::show();
        m_page->choose(eight_gpus());
        open(u"one.yaml"_s, kText);
    }
    void cleanup() {
        m_page.reset();
        m_session.reset();
    }

    void theWheelScrollsAndNeverEdits() {
        auto* board = m_page->findChild<PlanBoard*>();
        auto* slider = m_page->findChild<QSlider*>(u"lengthSlider"_s);
        board->ensureWidgetVisible(slider);
        QTest::qWait(20);
        const int before = board->verticalScrollBar()->value();
        wheel(slider, -3);
        wheel(m_page->findChild<QSpinBox*>(u"lengthBox"_s), -3);
        wheel(m_page->findChild<QSpinBox*>(u"ranksBox"_s), 3);
        wheel(m_page->findChild<QSpinBox*>(u"nodesBox"_s), 3);
        wheel(m_page->findChild<QComboBox*>(u"deviceBox"_s), -3);
        settle();
        QCOMPARE(editor()->text(), kText);
        QCOMPARE(m_page->findChild<QSpinBox*>(u"ranksBox"_s)->value(), 8);
        QCOMPARE(m_page->findChild<QSpinBox*>(u"nodesBox"_s)->value(), 0);
        QCOMPARE(m_page->findChild<QComboBox*>(u"deviceBox"_s)->currentIndex(), 1);
        QVERIFY(board->verticalScrollBar()->value() > before);
    }

    void theWheelChangesAControlThatWasClicked() {
        auto* ranks = m_page->findChild<QSpinBox*>(u"ranksBox"_s);
        QTest::mouseClick(ranks->childAt(ranks->rect().center()), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return ranks->hasFocus(); }, 2000));
        wheel(ranks, 1);
        QCOMPARE(ranks->value(), 9);
        editor()->setFocus();
        wheel(ranks, 1);
        QCOMPARE(ranks->value(), 9);
    }

    /// CTest's gui_plan_large_test runs this test again with fonts at 144 dpi.
    void aLineOfTheTextIsReadWholeInANarrowWindow_data() {
        QTest::addColumn<QSize>("size");
        QTest::newRow("beside a sidebar, of 1024x700") << QSize(780, 640);
        QTest::newRow("1440x900") << QSize(1190, 840);
    }
    void aLineOfTheTextIsReadWholeInANarrowWindow() {
        QFETCH(const QSize, size);
        m_page->resize(size);
        const QString line = u"attn_implementation: flash_attention_2"_s;
        const int needed = editor()->fontMetrics().horizontalAdvance(line);
        QTRY_VERIFY2(editor()->viewport()->width() >= needed,
                     qPrintable(u"%1 of %2"_s.arg(editor()->viewport()->width()).arg(needed)));
        const auto* board = m_page->findChild<PlanBoard*>();
        QVERIFY2(board->width() >= board->widget()->minimumSizeHint().width(),
                 qPrintable(QString::number(board->width())));
        QVERIFY2(board->height() >= space(8) && editor()->height() >= space(5),
                 qPrintable(u"%1 of %2, %3 of %4"_s.arg(board->height())
                                .arg(space(8))
                                .arg(editor()->height())
                                .arg(space(5))));
        QCOMPARE(m_page->size(), size);
    }

    void aProblemScrollsOnlyIfThereIsNoRoomForIt() {
        m_page->resize(1400, 900);
        open(u"wrong.yaml"_s, kText + u"context_parallel_size: 3\nlr: 1\nmax_length: 5\nwarmup: 3\n"_s);
        QVERIFY(problems()->count() > 4);
        const auto* list = problems()->parentWidget();
        const auto* sheet = list->findChild<QScrollArea*>();
        for (int row = 0; row < problems()->count(); ++row) {
            problems()->setCurrentRow(row);
            QTRY_COMPARE(problems()->verticalScrollBar()->maximum(), 0);
            QTRY_COMPARE(sheet->verticalScrollBar()->maximum(), 0);
        }
        m_page->resize(1400, 500);
        QTRY_VERIFY(sheet->verticalScrollBar()->maximum() > 0 ||
                    problems()->verticalScrollBar()->maximum() > 0);
    }

    void keepIsOfferedOnceAndKeepsTheBatchOfTheFile() {
        auto* keep = m_page->findChild<QAbstractButton*>(u"keepBatchButton"_s);
        QVERIFY(!keep->isVisibleTo(m_page.get()));
        clickNamed("contextSize-8");
        QVERIFY(keep->isVisibleTo(m_page.get()));
        QCOMPARE(keep->text(), u"Keep 64: accumulate 64"_s);
        QVERIFY(rowWith(u"keeps 64"_s) >= 0 || rowWith(u"64 becomes 8"_s) >= 0);
        keep->click();
        settle();
        QVERIFY(editor()->text().contains(u"gradient_accumulation_steps: 64\n"_s));
        QVERIFY(!keep->isVisibleTo(m_page.get()));
        QCOMPARE(rowWith(u"becomes"_s), -1);
        clickNamed("contextSize-2");  // 64 accumulated × 4 groups are 256 rows, more than in the file
        QVERIFY(!keep->isVisibleTo(m_page.get()));
    }

    void aBatchThatWasKeptIsNotOfferedAgain() {
        clickNamed("contextSize-8");
        clickNamed("keepBatchButton");
        QTest::keyClick(editor(), Qt::Key_S, Qt::ControlModifier);
        QTRY_VERIFY(!m_page->isEdited());
        const QString kept = m_page->file();
        open(u"two.yaml"_s, kText);
        m_page->openFile(kept);
        m_page->choose(eight_gpus());
        settle();
        auto* keep = m_page->findChild<QAbstractButton*>(u"keepBatchButton"_s);
        QVERIFY(!keep->isVisibleTo(m_page.get()));
        QCOMPARE(rowWith(u"becomes"_s), -1);
        clickNamed("contextSize-4");  // twice the rows
        QVERIFY(!keep->isVisibleTo(m_page.get()));
    }

    void ranksOfOneFileAreNotTheNextOnes() {
        open(u"two.yaml"_s, kText);
        QCOMPARE(m_page->findChild<QSpinBox*>(u"ranksBox"_s)->value(), 0);
        QCOMPARE(m_page->findChild<QComboBox*>(u"deviceBox"_s)->currentIndex(), 0);
    }

    void theMethodThatIsNotThereComesFirst() {
        open(u"reward.yaml"_s, u"load_in_8bit: maybe\n"_s + kText + u"kd_trainer: true\n"_s);
        auto* list = problems();
        QVERIFY2(list->item(0)->text().contains(u"kd_trainer"_s), qPrintable(list->item(0)->text()));
        QVERIFY(verdict().contains(u"kd_trainer"_s));
        QCOMPARE(list->verticalScrollBar()->value(), 0);
    }

    void betterPlansAreRankedInSpiteOfAKeyThatIsRefused() {
        open(u"refused.yaml"_s, kText + u"tensor_parallel_size: 1\nkd_trainer: true\n"_s);
        QVERIFY(verdict().startsWith(u"INVALID"_s));
        QTRY_VERIFY_WITH_TIMEOUT(m_page->findChild<QWidget*>(u"applyButton-0"_s) != nullptr, 20000);
    }

    void theTabKeyGoesFromAProblemToItsFix() {
        open(u"typo.yaml"_s,
             QString(kText).replace(u"sequence_len"_s, u"sequence_length"_s) + u"fp16: true\n"_s);
        auto* list = problems();
        const auto* fix = [&]() -> QWidget* {
            for (int row = 0; row < list->count(); ++row) {
                list->setCurrentRow(row);
                for (QWidget* button : m_page->findChildren<QWidget*>(u"fixButton"_s))
                    if (button->isVisibleTo(m_page.get())) return button;
            }
            return nullptr;
        }();
        QVERIFY(fix);
        m_page->activateWindow();
        list->setFocus();
        QVERIFY(QTest::qWaitFor([&] { return list->hasFocus(); }, 2000));
        QTest::keyClick(list, Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget()->objectName(), u"codeButton"_s);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QCOMPARE(QApplication::focusWidget(), fix);
    }

    void theBannerSpeaksTheLanguageOfTheApp() {
        QLocale::setDefault(QLocale(QLocale::German));
        open(u"german.yaml"_s, QString(kText).replace(u"micro_batch_size: 1"_s, u"micro_batch_size: 0"_s));
        const QString said = verdict();
        QLocale::setDefault(QLocale(QLocale::English));
        QVERIFY2(!said.contains(u"must be"_s) && !said.contains(u"has to"_s), qPrintable(said));
    }

    void undoTakesBackEachFixOfAxolotlsExamples() {
        YamlEditor editor;
        int fixes = 0;
        for (const auto& [file, text] : axolotl_examples()) {
            editor.load(QString::fromStdString(text));
            const Plan plan = plan_text(text, 2);
            for (const Diagnostic& said : plan.diagnostics) {
                for (const Fix& fix : said.fixes) {
                    const std::string fixed = apply_fix(text, fix);
                    if (fixed == text) continue;
                    editor.edit(QString::fromStdString(fixed));
                    QCOMPARE(editor.text().toStdString(), fixed);
                    editor.undo();
                    QVERIFY2(editor.text().toStdString() == text, file.c_str());
                    ++fixes;
                }
            }
        }
        QVERIFY(fixes > 0);
    }

    void aCommentIsToggledByOneKey() {
        editor()->goToLine(5);
        QTest::keyClick(editor(), Qt::Key_Slash, Qt::ControlModifier);
        QVERIFY(editor()->text().contains(u"\n# sequence_len: 32768\n"_s));
        QTest::keyClick(editor(), Qt::Key_Slash, Qt::ControlModifier);
        QCOMPARE(editor()->text(), kText);
        QTextCursor both = editor()->textCursor();
        both.setPosition(editor()->document()->findBlockByNumber(2).position());
        both.setPosition(editor()->document()->findBlockByNumber(3).position() + 3, QTextCursor::KeepAnchor);
        editor()->setTextCursor(both);
        QTest::keyClick(editor(), Qt::Key_Slash, Qt::ControlModifier);
        QVERIFY2(editor()->text().contains(u"\n  # - path: someone/longdocs\n  #   type: completion\n"_s),
                 qPrintable(editor()->text()));
        editor()->undo();
        QCOMPARE(editor()->text(), kText);
    }

    void aKeyCompletesItself() {
        editor()->goToLine(1);
        QTest::keyClick(editor(), Qt::Key_Home, Qt::ControlModifier);
        QTest::keyClick(editor(), Qt::Key_Return);
        QTest::keyClick(editor(), Qt::Key_Up);
        QTest::keyClicks(editor(), u"gradient_ch"_s);
        QWidget* list = nullptr;
        for (QWidget* top : QApplication::topLevelWidgets())
            if (top->objectName() == u"keyCompletions"_s && top->isVisible()) list = top;
        QVERIFY(list);
        QTest::keyClick(list, Qt::Key_Return);
        QVERIFY2(editor()->text().startsWith(u"gradient_checkpointing: "_s),
                 qPrintable(editor()->text().left(60)));
    }

  private:
    void open(const QString& name, const QString& text) {
        QFile to(m_home.path() + u'/' + name);
        QVERIFY(to.open(QIODevice::WriteOnly));
        to.write(text.toUtf8());
        to.close();
        m_page->openFile(to.fileName());
        settle();
    }
    void clickNamed(const char* name) {
        auto* button = m_page->findChild<QAbstractButton*>(QString::fromLatin1(name));
        QVERIFY2(button, name);
        QTest::mouseClick(button, Qt::LeftButton);
        settle();
    }
};

int main(int argc, char** argv) {
    QTemporaryDir data;
    qputenv("XDG_DATA_HOME", data.path().toUtf8());
    qputenv("XDG_CONFIG_HOME", (data.path() + u"/config"_s).toUtf8());
    QApplication app(argc, argv);
    QApplication::setApplicationName(u"ringmaster"_s);
    PlanHandsTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "plan_hands_test.moc"
