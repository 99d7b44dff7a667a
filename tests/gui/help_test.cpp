// Tests the help: every entry is found by its id and by a word of it, in each language.
#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QTest>
#include <QTextBrowser>

#include "gui/help/help_page.h"
#include "gui/session/finding_words.h"
#include "launcher/base/help_texts.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

class HelpTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyBookIsThereInEachLanguage_data() {
        QTest::addColumn<QString>("language");
        for (const QString& language : {u"en_US"_s, u"de_DE"_s, u"zh_CN"_s, u"ja_JP"_s})
            QTest::newRow(qPrintable(language)) << language;
    }
    void everyBookIsThereInEachLanguage() {
        QFETCH(QString, language);
        QLocale::setDefault(QLocale(u"en_US"_s));
        const size_t codes = read_help(HelpBook::Codes, finding_language()).size();
        QVERIFY(codes > 60);
        QLocale::setDefault(QLocale(language));
        QCOMPARE(read_help(HelpBook::Codes, finding_language()).size(), codes);
        for (HelpBook book : {HelpBook::Guide, HelpBook::Figures, HelpBook::Codes}) {
            for (const HelpEntry& entry : read_help(book, finding_language())) {
                QVERIFY2(!entry.id.isEmpty() && !entry.title.isEmpty() && !entry.text.isEmpty(),
                         qPrintable(entry.id));
            }
        }
    }

    void explainShowsTheEntryAndSearchNarrowsTheList() {
        QLocale::setDefault(QLocale(u"en_US"_s));
        Session session(find_places());
        HelpPage page(session);
        page.explain(u"CP-DIVISOR"_s);
        QVERIFY(page.findChild<QTextBrowser*>()->toPlainText().contains(u"CP-DIVISOR"_s));
        page.explain(u"overhead"_s);
        QVERIFY(!page.findChild<QTextBrowser*>()->toPlainText().contains(u"CP-DIVISOR"_s));
        auto* list = page.findChild<QListWidget*>();
        page.findChild<QLineEdit*>()->setText(u"heads_k_stride"_s);
        int shown = 0;
        for (int row = 0; row < list->count(); ++row) shown += !list->item(row)->isHidden();
        QVERIFY(shown > 0 && shown < 12);
        page.explain(u"nothing of the kind"_s);
        QVERIFY(!page.findChild<QTextBrowser*>()->toPlainText().isEmpty());
    }

    void aLongTopicWraps() {
        QLocale::setDefault(QLocale(u"de_DE"_s));
        Session session(find_places());
        HelpPage page(session);
        page.show();
        const auto* list = page.findChild<QListWidget*>();
        int long_ones = 0;
        for (int width = 420; width <= 720; width += 20) {  // changes where the topics wrap
            page.resize(width, 400);
            QTest::qWait(10);
            for (int row = 0; row < list->count(); ++row) {
                const QListWidgetItem* topic = list->item(row);
                const QRect at = list->visualItemRect(topic);
                const QFont font = topic->data(Qt::FontRole).isNull() ? list->font() : topic->font();
                const int needed = QFontMetrics(font)
                                       .boundingRect(0, 0, at.width(), 1000, Qt::TextWordWrap, topic->text())
                                       .height();
                QVERIFY2(at.height() >= needed, qPrintable(topic->text()));
                long_ones += needed > 2 * list->fontMetrics().ascent();
            }
        }
        QVERIFY(long_ones > 0);
        QLocale::setDefault(QLocale(u"en_US"_s));
    }

    void anOptionIsNotBrokenAfterItsHyphens() {
        Session session(find_places());
        HelpPage page(session);
        auto* text = page.findChild<QTextBrowser*>();
        QVERIFY(!text->toPlainText().contains(u" --write "_s));
        QVERIFY(text->toPlainText().contains(u" \u2011\u2011write "_s));
        text->selectAll();
        text->copy();
        // The copied text has the hyphens that a shell expects.
        QVERIFY(QApplication::clipboard()->text().contains(u" --write "_s));
    }

    void aTextOpensAtItsBeginning() {
        Session session(find_places());
        HelpPage page(session);
        page.resize(600, 200);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        page.resize(600, 300);
        QTest::qWait(20);
        const auto* bar = page.findChild<QTextBrowser*>()->verticalScrollBar();
        QVERIFY(bar->maximum() > 0);
        QCOMPARE(bar->value(), 0);
    }
};

QTEST_MAIN(HelpTest)
#include "help_test.moc"
