// Tests the rows of a configuration, from the Plan page's button on, and the command palette, with mouse and
// keyboard.
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <QWheelEvent>

#include "gui/app/main_window.h"
#include "gui/data/row_list.h"
#include "gui/look/look.h"
#include "gui/plan/yaml_editor.h"
#include "tests/gui/own_home.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

constexpr int kPatienceMs = 30000;
constexpr int kRows = 400;

/// Returns a tokenizer in which tokens 0 and 1 are special, and tokens 2 to 27 are the letters a to z.
QByteArray tokenizer_of_letters() {
    QByteArray vocabulary;
    for (int letter = 0; letter < 26; ++letter)
        vocabulary += (letter ? ",\"" : "\"") + QByteArray(1, char('a' + letter)) +
                      "\":" + QByteArray::number(letter + 2);
    return R"({"model":{"type":"BPE","vocab":{)" + vocabulary +
           R"(}},"decoder":{"type":"ByteLevel"},"added_tokens":[{"id":0,"content":"<s>","special":true},)"
           R"({"id":1,"content":"</s>","special":true}]})";
}

/// Returns the rows. Row i, counted from 0, has <s>, "row" and a letter for the last digit of i, which is "a"
/// for 0. Row 7 has 100 more tokens, and is therefore longer than sequence_len.
QByteArray rows_of_letters() {
    QByteArray rows;
    for (int i = 0; i < kRows; ++i) {
        QByteArray ids = "0,19,16,24," + QByteArray::number(2 + i % 10) + ",1";
        QByteArray labels = "-100,-100,-100,24," + QByteArray::number(2 + i % 10) + ",1";
        for (int more = 0; i == 7 && more < 100; ++more) ids += ",2", labels += ",2";
        rows += "{\"input_ids\":[" + ids + "],\"labels\":[" + labels + "]}\n";
    }
    return rows;
}

const char* const kConfig =
    "base_model: model\nreinit_weights: true\ndatasets:\n  - path: rows.jsonl\n    ds_type: json\n    type: "
    "''\n"
    "sequence_len: 64\nexcess_length_strategy: drop\ncurriculum_sampling: true\nmicro_batch_size: 2\n"
    "gradient_accumulation_steps: 1\nmax_steps: 4\noptimizer: adamw_torch\nlearning_rate: 0.001\noutput_dir: "
    "out\n";

const char* const kModel =
    R"({"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":64,"intermediate_size":112,)"
    R"("num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":256,)"
    R"("max_position_embeddings":512,"rms_norm_eps":1e-6,"rope_theta":10000.0,"tie_word_embeddings":false,"hidden_act":"silu"})";

}  // namespace

class DataTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(QDir(m_home.path()).mkdir(u"model"_s));
        m_home.write("model/config.json", kModel);
        m_home.write("model/tokenizer.json", tokenizer_of_letters());
        m_home.write("rows.jsonl", rows_of_letters());
        m_home.write("tiny.yaml", kConfig);
        applyAppearance(Appearance::Light);
        m_session = std::make_unique<Session>(find_places());
        m_window = std::make_unique<MainWindow>(*m_session);
        Request four;
        four.ranks = 4;
        four.device = Device::Cpu;
        m_window->choose(four);
        m_window->resize(1024, 700);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    void aPageWithoutRowsOffersThoseOfTheOpenFile() {
        m_window->showPage(u"data"_s);
        QVERIFY(part<QPushButton>("firstRowsButton")->isHidden());  // no file is open
        QCOMPARE(part<QPushButton>("openRowsButton")->property("role"), u"primary"_s);
        m_window->openPath(m_home.path("tiny.yaml"));
        m_window->showPage(u"data"_s);
        QTRY_VERIFY(part<QPushButton>("firstRowsButton")->isVisible());
        QCOMPARE(part<QPushButton>("firstRowsButton")->text(), u"Show the rows of tiny.yaml"_s);
        QCOMPARE(part<QPushButton>("firstRowsButton")->property("role"), u"primary"_s);
        QVERIFY(part<QPushButton>("openRowsButton")->property("role") != u"primary"_s);
        m_window->showPage(u"plan"_s);
    }

    void theButtonOfThePlanShowsTheRows() {
        m_window->openPath(m_home.path("tiny.yaml"));
        QTRY_VERIFY_WITH_TIMEOUT(page("plan")->settled(), kPatienceMs);
        click(part<QPushButton>("rowsButton"));
        QCOMPARE(m_window->pageName(), u"data"_s);
        QTRY_VERIFY_WITH_TIMEOUT(page("data")->settled(), kPatienceMs);
        QCOMPARE(list()->count(), kRows - 1);
        QVERIFY(words("rowLosses").contains(u"1 left out: longer than sequence_len"_s));
        QVERIFY(words("rowLosses").contains(u"rows.jsonl, line 8"_s));
        QTRY_VERIFY(words("rowLosses").contains(u"389 rows repeat an earlier one: row 10 is row 1 again"_s));
    }

    void thePageOffersTheRowsOfTheFileThatIsOpenInThePlan() {
        QVERIFY(part<QPushButton>("otherRowsButton")->isHidden());  // the open file's rows are shown
        m_home.write("other.yaml", kConfig);
        m_window->openPath(m_home.path("other.yaml"));
        QTRY_VERIFY_WITH_TIMEOUT(page("plan")->settled(), kPatienceMs);
        m_window->showPage(u"data"_s);
        auto* offer = part<QPushButton>("otherRowsButton");
        QCOMPARE(offer->text(), u"Show the rows of other.yaml"_s);
        click(offer);
        QTRY_VERIFY_WITH_TIMEOUT(page("data")->settled(), kPatienceMs);
        QCOMPARE(list()->count(), kRows - 1);
        QVERIFY(offer->isHidden());
    }

    void theColumnsOfTheRowsHaveHeadings() {
        auto* heading = part<QWidget>("rowHeading");
        QVERIFY(heading && heading->isVisible());
        QVERIFY(heading->geometry().bottom() < list()->viewport()->y());
        QCOMPARE(heading->width(), list()->viewport()->width());
    }

    void theMouseAndTheKeysChooseARow() {
        const int line = list()->fontMetrics().height() + space(0.5);
        QTest::mouseClick(list()->viewport(), Qt::LeftButton, {}, {60, line * 2 + line / 2});
        QCOMPARE(list()->currentRow(), 2);
        QVERIFY(words("rowPlace").contains(u"Row 3"_s));
        QVERIFY(words("rowPlace").contains(u"6 tokens, 3 trained"_s));
        QTRY_VERIFY(words("rowPlace").contains(u"step 1 of the first epoch on rank 1"_s));
        QCOMPARE(part<QTextBrowser>("rowText")->toPlainText(), u"<s>rowc</s>"_s);
        QTest::keyClick(list(), Qt::Key_Down);
        QCOMPARE(list()->currentRow(), 3);
        QTest::keyClick(list(), Qt::Key_End);
        QCOMPARE(list()->currentRow(), kRows - 2);
        QVERIFY(list()->verticalScrollBar()->value() > 300);
        QTest::keyClick(list(), Qt::Key_Home);
        QCOMPARE(list()->currentRow(), 0);
    }

    void trainedReadAndSpecialTokensDiffer() {
        const auto* text = part<QTextBrowser>("rowText");
        QCOMPARE(text->toPlainText(), u"<s>rowa</s>"_s);
        const auto format = [&](int at) {
            QTextCursor cursor(text->document());
            cursor.setPosition(at + 1);  // charFormat() returns the format of the letter before the cursor
            return cursor.charFormat();
        };
        QVERIFY(!format(3).fontUnderline() && format(6).fontUnderline());  // "r" is only read, "a" is trained
        QVERIFY(format(0).fontWeight() == QFont::Bold && format(6).fontWeight() != QFont::Bold);
        QVERIFY(format(8).fontUnderline() &&
                format(8).fontWeight() == QFont::Bold);  // </s> is special and trained
        QVERIFY(format(3).foreground() != format(6).foreground());
    }

    void wordsAreSearchedInAllRows() {
        auto* search = part<QLineEdit>("rowSearch");
        QTest::mouseClick(search, Qt::LeftButton);
        QTest::keyClicks(search, u"ROWC"_s);
        QTRY_COMPARE(list()->count(), kRows / 10);
        QVERIFY(words("rowsFound").startsWith(u"40 "_s));
        QCOMPARE(list()->currentRow(), 2);
        QTest::keyClick(search, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClick(search, Qt::Key_Backspace);
        QTRY_COMPARE(list()->count(), kRows - 1);
    }

    void theWheelScrollsTheRows() {
        QWheelEvent wheel({20, 20}, list()->viewport()->mapToGlobal(QPointF(20, 20)), {}, {0, -240},
                          Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        const int before = list()->verticalScrollBar()->value();
        QApplication::sendEvent(list()->viewport(), &wheel);
        QVERIFY(list()->verticalScrollBar()->value() > before);
    }

    void thePaletteFindsPagesAndButtons() {
        palette(u"pla"_s);
        QCOMPARE(m_window->pageName(), u"plan"_s);
        auto* editor = m_window->findChild<YamlEditor*>();
        // In other texts, Ctrl+K deletes to the end of the line.
        QTest::mouseClick(editor->viewport(), Qt::LeftButton);
        palette(u"rows"_s);
        QTRY_COMPARE(m_window->pageName(), u"data"_s);
        QCOMPARE(editor->text(), QString::fromUtf8(kConfig));
        QTRY_VERIFY_WITH_TIMEOUT(page("data")->settled(), kPatienceMs);
        openPalette();
        auto* open = m_window->findChild<QDialog*>(u"commandPalette"_s);
        QTest::keyClicks(open->findChild<QLineEdit*>(), u"nothing is called so"_s);
        QCOMPARE(open->findChild<QListWidget*>()->count(), 0);
        QTest::keyClick(open->findChild<QLineEdit*>(), Qt::Key_Return);
        QTest::keyClick(open->findChild<QLineEdit*>(), Qt::Key_Escape);
        QTRY_VERIFY(!m_window->findChild<QDialog*>(u"commandPalette"_s));
        QCOMPARE(m_window->pageName(), u"data"_s);
    }

    void brokenRowsAreSaidAndCanBeTriedAgain() {
        m_home.write("rows.jsonl", "{\"input_ids\":[1,2,3],\"labels\":[1,2,3]}\n{broken\n");
        m_window->showPage(u"plan"_s);
        click(part<QPushButton>("rowsButton"));
        auto* problem = part<QWidget>("dataProblem");
        QTRY_VERIFY_WITH_TIMEOUT(problem->isVisible(), kPatienceMs);
        QString said;
        for (const auto* label : problem->findChildren<QLabel*>()) said += label->text() + u'\n';
        QVERIFY2(said.contains(u"rows.jsonl"_s), qPrintable(said));
        m_home.write("rows.jsonl", "{\"input_ids\":[1,2,3],\"labels\":[1,2,3]}\n");
        QPushButton* again = nullptr;
        for (auto* button : problem->findChildren<QPushButton*>())
            if (button->text() == u"Try again"_s) again = button;
        QVERIFY(again);
        click(again);
        QTRY_VERIFY_WITH_TIMEOUT(page("data")->settled() && list()->isVisible(), kPatienceMs);
        QCOMPARE(list()->count(), 1);
    }

  private:
    Page* page(const char* name) { return m_window->page(QString::fromLatin1(name)); }
    template <class Widget>
    Widget* part(const char* name) {
        return m_window->findChild<Widget*>(QString::fromLatin1(name));
    }
    RowList* list() { return part<RowList>("rowList"); }
    QString words(const char* name) { return part<QLabel>(name)->text(); }
    static void click(QWidget* widget) { QTest::mouseClick(widget, Qt::LeftButton); }

    void openPalette() {
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        QWidget* focus = QApplication::focusWidget();
        QTest::keyClick(focus ? focus : m_window.get(), Qt::Key_K, Qt::ControlModifier);
        QTRY_VERIFY(m_window->findChild<QDialog*>(u"commandPalette"_s));
    }

    /// Presses Ctrl+K, types some letters and presses Return.
    void palette(const QString& letters) {
        openPalette();
        auto* line = m_window->findChild<QDialog*>(u"commandPalette"_s)->findChild<QLineEdit*>();
        QTest::keyClicks(line, letters);
        QTest::keyClick(line, Qt::Key_Return);
        QTRY_VERIFY(!m_window->findChild<QDialog*>(u"commandPalette"_s));
    }

    OwnHome m_home;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(DataTest)
#include "data_test.moc"
