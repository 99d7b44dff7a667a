// Uses the Plan page as a user does: types, presses buttons, undoes, and reads what the plan says.
#include <QComboBox>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QSpinBox>
#include <QTextBrowser>
#include <random>

#include "gui/plan/problem_list.h"
#include "gui/plan/sequence_view.h"
#include "tests/gui/plan_files_test.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

/// Edits a file, keeps the draft and waits to be killed.
int edit_until_killed(const QString& file) {
    Session session(find_places());
    PlanPage page(session);
    page.resize(1000, 700);
    page.QWidget::show();
    page.openFile(file);
    auto* editor = page.findChild<YamlEditor*>();
    QTest::keyClicks(editor, u"# typed and never saved"_s);
    QTest::keyClick(editor, Qt::Key_Return);
    return QApplication::exec();
}

}  // namespace

class PlanTest : public PlanFilesTest {
    Q_OBJECT

  private Q_SLOTS:
    void anEmptyPageSaysWhatToDo() {
        QVERIFY(m_page->settled());
        QSignalSpy choose(m_session.get(), &Session::chooseConfig);
        press("openButton");
        QCOMPARE(choose.count(), 1);
        QSignalSpy example(m_session.get(), &Session::tryExample);
        press("exampleButton");
        QCOMPARE(example.count(), 1);
    }

    void typingPlansAgainAndMarksTheLine() {
        open();
        QCOMPARE(linesMarkedAsErrors(), 0);
        QVERIFY(button("launchButton")->isEnabled());
        editor()->goToLine(9);
        QTest::keyClick(editor(), Qt::Key_End);
        const QString line = u"context_parallel_size: 4   # ranks of a ring"_s;
        for (qsizetype i = line.indexOf(u'4') + 1; i < line.size(); ++i)
            QTest::keyClick(editor(), Qt::Key_Backspace);
        QTest::keyClick(editor(), Qt::Key_Backspace);
        QTest::keyClicks(editor(), u"3"_s);
        settle();
        QCOMPARE(linesMarkedAsErrors(), 1);
        QVERIFY2(verdict().startsWith(u"INVALID"_s), qPrintable(verdict()));
        QVERIFY(!button("launchButton")->isEnabled());
        QVERIFY(button("launchButton")->toolTip().contains(u"does not divide"_s));
        QVERIFY(problems()->item(0)->text().startsWith(u"Line 9:"_s));
    }

    void aFixIsPressedAndUndone() {
        open();
        setText(QString(kText).replace(u"context_parallel_size: 4"_s, u"sequence_parallel_degree: 4"_s));
        const QString before = editor()->text();
        const auto row = rowWith(u"old name"_s);
        QVERIFY(row >= 0);
        problems()->setCurrentRow(row);
        press("fixButton");
        settle();
        QCOMPARE(editor()->text(), kText);
        editor()->undo();
        QCOMPARE(editor()->text(), before);
    }

    void aFileIsMadeToRunInOneUndoableEdit() {
        open();
        QVERIFY(button("adaptButton")->isHidden());
        setText(QString(kText).replace(u"context_parallel_size: 4"_s, u"context_paralel_size: 4"_s) +
                u"# kept\nfp16: true\n"_s);
        const QString before = editor()->text();
        QVERIFY(!button("adaptButton")->isHidden());
        QString shown;
        QTimer::singleShot(0, this, [&] {
            auto* dialog = m_page->findChild<QDialog*>(u"adaptDialog"_s);
            if (!dialog) return;
            shown = dialog->findChild<QTextBrowser*>(u"adaptChanges"_s)->toPlainText();
            dialog->findChild<QAbstractButton*>(u"adaptApplyButton"_s)->click();
        });
        press("adaptButton");
        settle();
        QVERIFY2(shown.contains(u"+ context_parallel_size: 4"_s) &&
                     shown.contains(u"Result: the run computes in bfloat16, without a scaled loss."_s),
                 qPrintable(shown));
        QVERIFY(editor()->text().contains(u"context_parallel_size: 4"_s));
        QVERIFY(editor()->text().contains(u"# kept"_s) && !editor()->text().contains(u"fp16"_s));
        QVERIFY(button("launchButton")->isEnabled());
        QVERIFY(button("adaptButton")->isHidden());
        editor()->undo();
        QCOMPARE(editor()->text(), before);
    }

    void aCodeIsALinkToItsExplanation() {
        open();
        QSignalSpy explain(m_session.get(), &Session::explain);
        press("codeButton");
        QCOMPARE(explain.count(), 1);
        QVERIFY(!explain.first().first().toString().isEmpty());
    }

    void aPressedSizeEditsTheTextAndUndoRestoresItByteForByte() {
        open();
        press("contextSize-8");
        settle();
        QCOMPARE(editor()->text(), QString(kText).replace(u"size: 4   #"_s, u"size: 8   #"_s));
        QVERIFY(m_page->isEdited());
        QVERIFY(qobject_cast<QAbstractButton*>(named("contextSize-8"))->isChecked());
        editor()->undo();
        settle();
        QCOMPARE(editor()->text().toUtf8(), bytes_of(m_file));
        QVERIFY(!m_page->isEdited());
        QVERIFY(qobject_cast<QAbstractButton*>(named("contextSize-4"))->isChecked());
    }

    void theGlobalBatchIsKeptByOnePress() {
        open();
        auto* keep = button("keepBatchButton");
        QVERIFY(!keep->isVisibleTo(m_page.get()));  // the batch is still the file's: 4 rows
        press("contextSize-8");
        settle();
        QCOMPARE(keep->text(), u"Keep 4: accumulate 4"_s);
        QTest::mouseClick(keep, Qt::LeftButton);
        settle();
        QVERIFY(editor()->text().contains(u"gradient_accumulation_steps: 4\n"_s));
        QCOMPARE(named("batchFigure")->accessibleName(), u"Global batch: 4"_s);
    }

    void applyKeepsCommentsAndUnknownKeys() {
        open();
        QTRY_VERIFY_WITH_TIMEOUT(named("applyButton-0") != nullptr, 10000);
        const QString before = editor()->text();
        press("applyButton-0");
        settle();
        const QString after = editor()->text();
        QVERIFY(after != before);
        for (const QString& kept : {u"# long documents, eight GPUs"_s, u"# known here"_s,
                                    u"# ranks of a ring"_s, u"wandb_project: longdocs"_s})
            QVERIFY2(after.contains(kept), qPrintable(kept));
        editor()->undo();
        QCOMPARE(editor()->text(), before);
    }

    void theOneChangeThatBuysMostLengthIsShownAndApplied() {
        open();
        auto* apply = button("applyLongerButton");
        QTRY_VERIFY_WITH_TIMEOUT(apply->isVisibleTo(m_page.get()), 10000);
        QVERIFY(apply->accessibleName().contains(u": "_s));
        QVERIFY2(!m_page->findChild<QLabel*>(u"longerText"_s)->text().contains(u"one change"_s),
                 "two keys may have to be set");
        const QString before = editor()->text();
        apply->click();
        settle();
        QVERIFY(editor()->text() != before);
        QVERIFY(editor()->text().contains(u"# known here"_s));
        editor()->undo();
        QCOMPARE(editor()->text(), before);
    }

    void theKernelsOfTheAttentionAreNamed() {
        open();
        const auto text = [&] { return m_page->findChild<QLabel*>(u"attentionKernels"_s)->text(); };
        QVERIFY2(text().startsWith(u"cuDNN or FlashAttention-2, dense: "_s), qPrintable(text()));
        QCOMPARE(text().count(u'\n'), 1);
        QVERIFY(!text().contains(u"shapes"_s));  // the tool tip has the details
        QVERIFY(m_page->findChild<QLabel*>(u"attentionKernels"_s)->toolTip().contains(u"own shapes"_s));
        setText(QString(kText) + u"sample_packing: true\n"_s);
        QVERIFY2(text().contains(u"cuDNN is left out: rows hold several documents"_s), qPrintable(text()));
    }

    void aPlanForGpusThatAreNotHereIsLaunchedElsewhere() {
        QVERIFY(m_session->machine()->gpus.empty());
        open(gpus(8));
        auto* launch = button("launchButton");
        QVERIFY(launch->isEnabled());  // the next dialog offers machines over SSH, and Slurm
        QCOMPARE(launch->text(), u"Launch on 8 GPU(s) elsewhere\u2026"_s);
        QVERIFY2(launch->toolTip().startsWith(u"The plan is for 8 GPU(s); this machine has none."_s),
                 qPrintable(launch->toolTip()));
        auto* device = m_page->findChild<QComboBox*>(u"deviceBox"_s);
        device->setFocus();
        QTest::keyClick(device, Qt::Key_Down);
        settle();
        QCOMPARE(launch->text(), u"Launch on 8 CPU rank(s)"_s);
    }

    void aVeryLongStepDrawsARemark() {
        open();
        QVERIFY2(!verdict().contains(u"One step takes"_s), qPrintable(verdict()));
        setText(QString(kText).replace(u"gradient_accumulation_steps: 2"_s,
                                       u"gradient_accumulation_steps: 20000"_s));
        QVERIFY2(verdict().startsWith(u"FITS"_s) && verdict().contains(u"One step takes"_s),
                 qPrintable(verdict()));
    }

    void aLengthThatIsInTheTextIsNotCalledUnknown() {
        open();
        setText(QString(kText).replace(u"context_parallel_size: 4"_s, u"context_parallel_size: 3"_s));
        QVERIFY(verdict().startsWith(u"INVALID"_s));
        QCOMPARE(m_page->findChild<SequenceView*>()->accessibleDescription(),
                 u"Not known until the problems above are solved."_s);
        for (const QLabel* label : m_page->findChildren<QLabel*>())
            QVERIFY(label->text() != u"The time of a step is not known."_s);
    }

    void aFixOffersOnlySizesThatWork_data() {
        QTest::addColumn<int>("ranks");
        QTest::newRow("two ranks") << 2;
        QTest::newRow("three ranks") << 3;
    }
    void aFixOffersOnlySizesThatWork() {
        QFETCH(const int, ranks);
        open(gpus(ranks));
        choose(rowWith(u"does not divide"_s));
        QStringList offered;
        for (const auto* fix : m_page->findChildren<QAbstractButton*>(u"fixButton"_s)) offered << fix->text();
        offered.sort();
        QCOMPARE(offered,
                 QStringList({u"context_parallel_size: 1"_s, u"context_parallel_size: %1"_s.arg(ranks)}));
        QTest::mouseClick(button("fixButton"), Qt::LeftButton);
        settle();
        QCOMPARE(rowWith(u"does not divide"_s), -1);
    }

    void aFixStaysDone_data() {
        QTest::addColumn<QString>("lines");
        QTest::addColumn<QString>("key");
        QTest::newRow("8 bits without an adapter") << u"load_in_8bit: true\n"_s << u"load_in_8bit"_s;
        QTest::newRow("trained weights beside an adapter")
            << u"adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\n"
               "unfrozen_parameters: ['^lm_head']\n"_s
            << u"unfrozen_parameters"_s;
        QTest::newRow("a method that is misspelt") << u"rl: dpoo\n"_s << u"rl"_s;
    }
    void aFixStaysDone() {
        QFETCH(const QString, lines);
        QFETCH(const QString, key);
        open();
        setText(kText + lines);
        QVERIFY2(verdict().startsWith(u"INVALID"_s), qPrintable(verdict()));
        const int row = rowWith(key);
        choose(row);
        const QString said = problems()->item(row)->text().section(u": "_s, 1);
        auto* fix = button("fixButton");
        QVERIFY(fix && fix->isVisible());
        QTest::mouseClick(fix, Qt::LeftButton);
        settle();
        QCOMPARE(rowWith(said), -1);
    }

    void eachProblemOfALineIsChosenByMouse() {
        open();
        setText(QString(kText).replace(u"context_parallel_size: 4"_s, u"sequence_parallel_degree: 3"_s));
        QStringList lines;
        for (int row = 0; row < problems()->count(); ++row) {
            editor()->goToLine(1);  // the click moves the cursor to the problem's line
            choose(row);
            QCOMPARE(problems()->currentRow(), row);
            lines << problems()->item(row)->text().section(u": "_s, 0, 0);
        }
        QVERIFY2(lines.removeDuplicates() > 0, qPrintable(lines.join(u'|')));
    }

    void eachProblemIsReadWholeInTheList() {
        m_page->resize(900, 700);
        openMistakes();
        int long_ones = 0;
        for (int row = 0; row < problems()->count(); ++row) {
            const QListWidgetItem* item = problems()->item(row);
            const QRect at = problems()->visualItemRect(item);
            const int needed = problems()
                                   ->fontMetrics()
                                   .boundingRect(0, 0, at.width(), 1000, Qt::TextWordWrap, item->text())
                                   .height();
            QVERIFY2(at.height() >= needed, qPrintable(item->text()));
            long_ones += needed > 2 * problems()->fontMetrics().ascent();
        }
        QVERIFY(long_ones > 0);
    }

    void theListOfProblemsTakesTheRoomThatTheirDetailsLeave() {
        openMistakes();
        const auto* details = m_page->findChild<QScrollArea*>(u"problemDetails"_s);
        for (const QSize& size : {QSize(1000, 700), QSize(1440, 900), QSize(1000, 1600)}) {
            m_page->resize(size);
            for (int row = 0; row < problems()->count(); ++row) {
                choose(row);
                settle();
                QTest::qWait(1);  // the splitter moves
                const int blank =
                    details->viewport()->height() - m_page->findChild<ProblemList*>()->heightOfDetails();
                QVERIFY2(
                    problems()->verticalScrollBar()->maximum() == 0 ||
                        blank < 2 * problems()->fontMetrics().lineSpacing(),
                    qPrintable(
                        u"%1 x %2, row %3: %4"_s.arg(size.width()).arg(size.height()).arg(row).arg(blank)));
            }
        }
    }

    void aNoteBehindALineIsWholeOrLeftOut() {
        openMistakes();
        int whole = 0, left_out = 0;
        for (const int width : {3000, 1500, 1000, 850}) {
            m_page->resize(width, 700);
            QTest::qWait(1);  // the splitter moves
            for (int line = 1; line < editor()->blockCount(); ++line) {
                const QString note = editor()->noteOf(line);
                if (note.isEmpty()) continue;
                const QString in_list = u"Line %1: %2"_s.arg(line).arg(note);
                QVERIFY2(!problems()->findItems(in_list, Qt::MatchExactly).isEmpty(), qPrintable(note));
                ++whole;
            }
            left_out += editor()->noteOf(9).isEmpty();  // line 9 has an error at every width
        }
        QVERIFY(whole > 0 && left_out > 0);
    }

    void theTokensOfDividedExpertsAreDrawn() {
        open();
        auto* bar = m_page->findChild<QWidget*>(u"expertsBar"_s);
        QVERIFY(!bar->isVisible());
        const QString experts =
            QString(kText).replace(u"meta-llama/Llama-3.2-1B"_s, u"Qwen/Qwen3-30B-A3B"_s) +
            u"dp_shard_size: 2\nexpert_parallel_size: 8\nfsdp_version: 2\n"
            "fsdp_config:\n  reshard_after_forward: true\n"_s;
        setText(experts);
        QVERIFY2(bar->isVisible(), qPrintable(verdict()));
        // A rank has 32,768 ÷ 4 tokens, and each token goes to 8 experts. In the worst case, one rank gets
        // the tokens of all 8 ranks.
        QCOMPARE(bar->accessibleDescription(), u"if the load is even 65,536, at worst 524,288"_s);
        setText(QString(experts).replace(u"expert_parallel_size: 8"_s, u"expert_parallel_size: 1"_s));
        QVERIFY(!bar->isVisible());
    }

    void theLengthIsTriedAndThenWritten() {
        open();
        auto* slider = m_page->findChild<QSlider*>(u"lengthSlider"_s);
        slider->setSliderDown(true);
        slider->setValue(slider->value() - 40);
        settle();
        QVERIFY(!m_page->isEdited());
        slider->setSliderDown(false);
        settle();
        QVERIFY(m_page->isEdited());
        QVERIFY(!editor()->text().contains(u"sequence_len: 32768"_s));
        editor()->undo();
        QCOMPARE(editor()->text(), kText);
        auto* box = m_page->findChild<QSpinBox*>(u"lengthBox"_s);
        settle();
        box->setValue(16384);
        settle();
        QVERIFY(editor()->text().contains(u"sequence_len: 16384\n"_s));
    }

    void aThousandRanksAreDrawnAndPlanned() {
        open(gpus(1024, 128));
        QVERIFY(verdict().startsWith(u"FITS"_s));
        QVERIFY(named("contextSize-1024") != nullptr);
        QVERIFY(!m_page->grab().isNull());
    }

    void findGoesRound() {
        open();
        QTest::keyClick(editor(), Qt::Key_F, Qt::ControlModifier);
        auto* what = m_page->findChild<QLineEdit*>(u"findText"_s);
        QVERIFY(what->isVisible());
        what->setText(u"size"_s);
        const int first = editor()->currentLine();
        for (int i = 0; i < editor()->text().count(u"size"_s); ++i) QTest::keyClick(what, Qt::Key_Return);
        QCOMPARE(editor()->currentLine(), first);
        QTest::keyClick(what, Qt::Key_Escape);
        QVERIFY(!what->isVisible());
    }

    void aRefusedEditIsSaidUntilTheNextEdit() {
        open();
        setText(QString(kText)
                    .replace(u"context_parallel_size: 4"_s, u"context_parallel_size: &ranks 4"_s)
                    .replace(u"micro_batch_size: 1"_s, u"micro_batch_size: *ranks"_s));
        const auto refuse = [&] {
            QTest::mouseClick(named("contextSize-8"), Qt::LeftButton);
            settle();
        };
        refuse();
        QVERIFY(named("fileNotice")->isVisible());
        QTest::keyClicks(editor(), u"#"_s);
        QVERIFY(!named("fileNotice")->isVisible());
        refuse();
        QVERIFY(named("fileNotice")->isVisible());
        QTest::keyClick(editor(), Qt::Key_Z, Qt::ControlModifier);
        QVERIFY(!named("fileNotice")->isVisible());
        write(m_file, kText.toUtf8() + "seed: 7\n");
        QTRY_VERIFY_WITH_TIMEOUT(named("reloadButton") != nullptr, 10000);
        QTest::keyClicks(editor(), u"#"_s);
        QVERIFY(named("fileNotice")->isVisible());
    }

    void randomEditsNeverEndIt() {
        open();
        std::mt19937 random(11);
        const QString letters = u"ab:-# \n\t'\"[]{}|>&*!?,%@0189._\u00e4\u4e2d"_s;
        QString text = kText;
        for (int round = 0; round < 150; ++round) {
            const int at = int(random() % unsigned(text.size()));
            const int length = int(random() % 12);
            QString piece;
            for (int i = int(random() % 8); i > 0; --i)
                piece += letters[qsizetype(random() % unsigned(letters.size()))];
            text.replace(at, length, piece);
            if (text.size() < 50) text = kText;
            editor()->edit(text);
            if (round % 10 == 0) {
                settle();
                m_page->grab();
                if (auto* fix = m_page->findChild<QAbstractButton*>(u"fixButton"_s)) fix->click();
                text = editor()->text();
            }
        }
        settle();
    }

  private:
    /// Opens a text with problems in several lines.
    void openMistakes() {
        open();
        setText(QString(kText)
                    .replace(u"context_parallel_size: 4"_s, u"sequence_parallel_degree: 3"_s)
                    .replace(u"gradient_accumulation_steps"_s, u"gradient_accumulation_step"_s));
    }
    /// Clicks a problem, after which only that problem's fixes have buttons.
    void choose(int row) {
        QVERIFY(row >= 0);
        QListWidgetItem* item = problems()->item(row);
        problems()->scrollToItem(item);
        QTest::mouseClick(problems()->viewport(), Qt::LeftButton, {},
                          problems()->visualItemRect(item).center());
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    qsizetype linesMarkedAsErrors() {
        const auto marked = editor()->extraSelections();
        return std::count_if(marked.begin(), marked.end(), [&](const QTextEdit::ExtraSelection& line) {
            return line.format.background().color() == coloursOf(editor()).errorFill;
        });
    }
};

int main(int argc, char** argv) {
    QTemporaryDir data;  // data folder of the parent process; a child gets its folder from the environment
    if (qEnvironmentVariableIsEmpty("RINGMASTER_TEST_DATA")) {
        qputenv("RINGMASTER_TEST_DATA", "1");
        qputenv("XDG_DATA_HOME", data.path().toUtf8());
        qputenv("XDG_CONFIG_HOME", (data.path() + u"/config"_s).toUtf8());
    }
    QApplication app(argc, argv);
    QApplication::setApplicationName(u"ringmaster"_s);
    if (argc == 3 && qstrcmp(argv[1], "--edit-until-killed") == 0)
        return edit_until_killed(QString::fromLocal8Bit(argv[2]));
    PlanTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "moc_plan_files_test.cpp"
#include "plan_test.moc"
