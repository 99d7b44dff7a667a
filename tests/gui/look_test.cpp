// Tests the app's look: both colour schemes are readable, figures follow the language, and cards use the
// available width.
#include <sys/resource.h>

#include <QApplication>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPalette>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <cmath>

#include "gui/look/card.h"
#include "gui/look/card_grid.h"
#include "gui/look/form.h"
#include "gui/look/look.h"
#include "gui/look/numbers.h"
#include "gui/look/wrapped_items.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

/// Computes WCAG 2.1's relative luminance.
double luminance(const QColor& c) {
    auto linear = [](double v) { return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

QString plain(QString text) {
    return text.replace(QChar(0x202f), u' ').replace(QChar::Nbsp, u' ');
}

}  // namespace

class LookTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void textIsReadableInBothSchemes_data() {
        QTest::addColumn<int>("appearance");
        QTest::newRow("light") << int(Appearance::Light);
        QTest::newRow("dark") << int(Appearance::Dark);
    }
    void textIsReadableInBothSchemes() {
        QFETCH(int, appearance);
        applyAppearance(Appearance(appearance));
        const Colours c = coloursOf(QApplication::palette());
        QCOMPARE(c.dark, Appearance(appearance) == Appearance::Dark);
        for (const QColor& sheet : {c.card, c.window, c.sunken}) {
            QVERIFY(contrast(c.text, sheet) >= 7);
            QVERIFY2(contrast(c.muted, sheet) >= 4.5, qPrintable(QString::number(contrast(c.muted, sheet))));
        }
        QVERIFY(contrast(c.good, c.goodFill) >= 4.5);
        QVERIFY(contrast(c.warning, c.warningFill) >= 4.5);
        QVERIFY(contrast(c.error, c.errorFill) >= 4.5);
        QVERIFY(contrast(c.onAccent, c.accent) >= 4.5);
        const QColor placeholder = QApplication::palette().color(QPalette::PlaceholderText);
        for (const QColor& sheet : {c.card, c.window, c.sunken, c.goodFill, c.warningFill, c.errorFill}) {
            for (const QColor& quiet : {c.muted, placeholder})
                QVERIFY2(contrast(quiet, sheet) >= 4.5, qPrintable(quiet.name() + u" on "_s + sheet.name()));
        }
    }

    void everyOf64RanksHasAColourOfItsOwnThatIsSeen() {
        for (Appearance appearance : {Appearance::Light, Appearance::Dark}) {
            applyAppearance(appearance);
            const Colours c = coloursOf(QApplication::palette());
            for (int rank = 0; rank < 64; ++rank) {
                QVERIFY2(contrast(rankColour(rank, c), c.card) >= 1.9, qPrintable(QString::number(rank)));
                for (const QColor& meaning : {c.good, c.error}) {  // an evaluation, and the capacity
                    const int apart = std::abs(rankColour(rank, c).hsvHue() - meaning.hsvHue());
                    QVERIFY2(std::min(apart, 360 - apart) >= 24, qPrintable(QString::number(rank)));
                }
                const QColor fill = rankColour(rank, c);
                QVERIFY2(contrast(inkOn(fill), fill) >= 4.5, qPrintable(QString::number(rank)));
                for (int other = 0; other < rank; ++other)
                    QVERIFY(rankColour(rank, c) != rankColour(other, c));
            }
        }
    }

    void theFirstRanksOfEightNodesDifferInHue() {
        for (Appearance appearance : {Appearance::Light, Appearance::Dark}) {
            applyAppearance(appearance);
            const Colours c = coloursOf(QApplication::palette());
            for (int rank = 0; rank < 64; rank += 8) {
                for (int other = 0; other < rank; other += 8) {
                    const int apart = std::abs(rankColour(rank, c).hsvHue() - rankColour(other, c).hsvHue());
                    QVERIFY2(std::min(apart, 360 - apart) >= 5,
                             qPrintable(u"%1 and %2"_s.arg(rank).arg(other)));
                }
            }
        }
    }

    void aDurationStaysInALine() {
        for (const double seconds : {0.412, 100.0, 11100.0, 187200.0})
            QVERIFY(!show::duration(seconds).contains(u' '));
    }

    void figuresFollowTheLanguage() {
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QCOMPARE(show::count(1048576), u"1,048,576"_s);
        QCOMPARE(plain(show::bytes(65927479296)), u"61.4 GiB"_s);
        QCOMPARE(plain(show::bytes(512)), u"512 B"_s);
        QCOMPARE(plain(show::percent(0.061)), u"6.1 %"_s);
        QCOMPARE(plain(show::percent(0.52)), u"52 %"_s);
        QCOMPARE(plain(show::duration(0.412)), u"0.41 s"_s);
        QCOMPARE(plain(show::duration(100)), u"1 min 40 s"_s);
        QCOMPARE(plain(show::duration(11100)), u"3 h 5 min"_s);
        QCOMPARE(plain(show::duration(187200)), u"2 d 4 h"_s);
        QCOMPARE(plain(show::duration(28.9 * 3600)), u"1 d 5 h"_s);
        QCOMPARE(plain(show::duration(11159)), u"3 h 6 min"_s);
        QCOMPARE(plain(show::duration(86399)), u"1 d"_s);
        QCOMPARE(plain(show::rate(19800)), u"19.8 k"_s);
        QCOMPARE(show::loss(2.71418), u"2.7142"_s);
        QCOMPARE(show::loss(std::nan("")), show::unknown());
        QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
        QCOMPARE(show::count(1048576), u"1.048.576"_s);
        QCOMPARE(plain(show::bytes(65927479296)), u"61,4 GiB"_s);
        QCOMPARE(show::loss(2.71418), u"2,7142"_s);
    }

    void namesOfAFormAreLevelWithTheirFields() {
        applyAppearance(Appearance::Light);
        QWidget page;
        auto* form = new QFormLayout;
        auto* seed = new QSpinBox;
        auto* address = new QLineEdit;
        auto* text = new QPlainTextEdit;
        form->addRow(u"Seed"_s, seed);
        form->addRow(u"Address"_s, address);
        form->addRow(u"Text"_s, text);
        alignNames(form);
        page.setLayout(form);
        page.show();
        QCoreApplication::processEvents();
        const auto middle = [](const QWidget* widget) { return 2 * widget->y() + widget->height(); };
        const QWidget *name = form->labelForField(seed), *of_text = form->labelForField(text);
        for (QWidget* field : std::initializer_list<QWidget*>{seed, address}) {
            const int off = middle(form->labelForField(field)) - middle(field);
            QVERIFY2(std::abs(off) <= 1, qPrintable(QString::number(off)));
        }
        QVERIFY(middle(of_text) - 2 * text->y() <= middle(name) - 2 * name->y() + 1);
    }

    void aHeaderPutsBelowWhatHasNoRoomInALine() {
        PageHeader header;
        header.setTitle(u"Runs"_s);
        header.setSubtitle(u"12 runs, 5 of them at work"_s);
        auto *left = new QPushButton(u"From another machine"_s), *right = new QPushButton(u"Compare"_s);
        header.addAction(left);
        header.addAction(right);
        const auto labels = header.findChildren<ElidedLabel*>();
        const auto show_at = [&](int width) {
            header.resize(width, header.heightForWidth(width));
            header.show();
            QCoreApplication::processEvents();
            for (const QWidget* widget : header.findChildren<QWidget*>())
                QVERIFY2(header.rect().contains(widget->geometry()), qPrintable(widget->objectName()));
            QVERIFY(labels[1]->width() >= labels[1]->sizeHint().width());
        };
        const int line = header.sizeHint().width();
        show_at(line);
        QCOMPARE(header.height(), header.minimumHeight());
        QCOMPARE(right->geometry().right() + 1, line);
        show_at(line - 1);
        QVERIFY(labels[1]->y() >= labels[0]->geometry().bottom());
        QCOMPARE(right->geometry().right() + 1, line - 1);
        show_at(left->sizeHint().width() + right->sizeHint().width() + space(0.5));
        QVERIFY(left->y() > labels[0]->geometry().bottom());
        QCOMPARE(left->y(), right->y());
        show_at(left->sizeHint().width());
        QVERIFY(right->y() > left->geometry().bottom());
    }

    void cardsTakeAsManyColumnsAsThereIsRoomInEvenRows() {
        QWidget page;
        auto* grid = new CardGrid(10, 3, &page);
        QWidget* cards[5];
        for (QWidget*& card : cards) grid->addCard(card = new Card(u"A card"_s));
        page.setLayout(grid);
        page.resize(space(34), space(40));
        page.show();
        QCoreApplication::processEvents();
        QCOMPARE(grid->columns(), 3);
        QCOMPARE(cards[0]->y(), cards[2]->y());
        QVERIFY(cards[3]->y() > cards[0]->y());
        QCOMPARE(cards[4]->geometry().right(), cards[2]->geometry().right());  // the last card fills its row
        cards[4]->hide();
        QCoreApplication::processEvents();
        QCOMPARE(grid->columns(), 2);  // two rows of two cards, not three and one
        QCOMPARE(cards[2]->y(), cards[3]->y());
        page.resize(space(12), space(60));
        QCoreApplication::processEvents();
        QCOMPARE(grid->columns(), 1);
        for (int index = 1; index < 4; ++index) QVERIFY(cards[index]->y() > cards[index - 1]->y());
    }

    /// If the text were read as HTML, the picture would be loaded; /dev/zero has no end and would use up all
    /// memory. A memory limit ends that early.
    void whatANodeSaysIsNoHtml() {
        const QString said = u"<b>gpu1</b><img src=\"file:///dev/zero\">"_s;
        rlimit before{};
        ::getrlimit(RLIMIT_AS, &before);
        const rlimit short_{rlim_t{4} << 30, before.rlim_max};
        ::setrlimit(RLIMIT_AS, &short_);
        QWidget window;
        auto* layout = new QVBoxLayout(&window);
        auto* label = new QLabel(said);
        layout->addWidget(label);
        layout->addWidget(mutedLabel(said));
        window.setToolTip(said);
        window.show();
        const QSize plain = QFontMetrics(label->font()).boundingRect(said).size();
        QVERIFY(label->sizeHint().width() >= plain.width() - 2);
        for (const QLabel* each : window.findChildren<QLabel*>()) QCOMPARE(each->textFormat(), Qt::PlainText);
        label->setText(said + said);
        QVERIFY(label->sizeHint().width() >= 2 * plain.width() - 4);

        QToolTip::showText(window.mapToGlobal(QPoint(1, 1)), said, &window);
        int tips = 0;
        for (const QWidget* top : QApplication::topLevelWidgets()) {
            const auto* tip = qobject_cast<const QLabel*>(top);
            if (tip == nullptr || !tip->inherits("QTipLabel")) continue;
            QCOMPARE(tip->textFormat(), Qt::PlainText);
            QVERIFY(tip->sizeHint().width() >= plain.width() / 2);
            ++tips;
        }
        QCOMPARE(tips, 1);
        QToolTip::hideText();

        QMessageBox box(QMessageBox::Warning, said, said);
        box.setInformativeText(said);
        box.show();
        int labels = 0;
        for (const QLabel* each : box.findChildren<QLabel*>()) {
            if (each->text().isEmpty()) continue;
            QCOMPARE(each->textFormat(), Qt::PlainText);
            ++labels;
        }
        QCOMPARE(labels, 2);
        ::setrlimit(RLIMIT_AS, &before);
    }

    void aMessageBoxWithoutAnIconBeginsAtItsMargin() {
        const auto left_of_text = [](QMessageBox::Icon icon) {
            QMessageBox box(icon, {}, u"Save?"_s);
            for (const QString& button : {u"Save the edits"_s, u"Discard the edits"_s})
                box.addButton(button, QMessageBox::AcceptRole);
            box.show();
            QCoreApplication::processEvents();
            const auto* text = box.findChild<QLabel*>(u"qt_msgbox_label"_s);
            return text->mapTo(&box, QPoint()).x() - box.layout()->contentsMargins().left();
        };
        QCOMPARE(left_of_text(QMessageBox::NoIcon), 0);
        QVERIFY(left_of_text(QMessageBox::Warning) > space(1));
    }

    void controlsOfARowHaveOneHeightInEachLanguage() {
        for (const QLocale& locale : {QLocale(QLocale::English), QLocale(QLocale::Japanese)}) {
            QLocale::setDefault(locale);
            applyAppearance(Appearance::Light);
            QWidget window;
            QPushButton latin(u"SSH"_s, &window), native(locale.nativeLanguageName(), &window),
                menu(u"Columns"_s, &window);
            menu.setMenu(new QMenu(&menu));
            QToolButton tool(&window);
            tool.setText(u"Steps"_s);
            QLineEdit line(&window);
            QSpinBox number(&window);
            number.setButtonSymbols(QAbstractSpinBox::NoButtons);
            QComboBox choice(&window), typed(&window);
            choice.addItem(locale.nativeLanguageName());
            typed.setEditable(true);
            window.show();
            QStringList others;
            for (const QWidget* one : window.findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
                if (one->sizeHint().height() != native.sizeHint().height())
                    others << QString::fromLatin1(one->metaObject()->className()) +
                                  u" %1"_s.arg(one->sizeHint().height() - native.sizeHint().height());
            QCOMPARE(others.join(u' '), QString());
        }
    }

    void noWordOfAnEmptyPageStandsAlone() {
        const QString text = u"Runs wait here for their turn and start by themselves, one after the other."_s;
        const int whole = QFontMetrics(QApplication::font()).horizontalAdvance(text);
        EmptyView view(u"Nothing is queued"_s, text);
        view.resize(whole, 400);  // with the margins, the last word does not fit
        view.show();
        const QLabel* body = view.findChildren<QLabel*>().last();
        QVERIFY2(body->contentsRect().width() < whole * 2 / 3,
                 qPrintable(QString::number(body->contentsRect().width())));
        QCOMPARE(body->heightForWidth(body->width()) - body->contentsMargins().top(),
                 2 * QFontMetrics(body->font()).lineSpacing());
    }

    void aShortTitleLeavesTheRoomOfALongOne() {
        PageHeader header;
        header.resize(600, 40);
        header.show();
        const auto labels = header.findChildren<ElidedLabel*>();
        header.setSubtitle(u"completed"_s);
        header.setTitle(u"longdocs-128k-2"_s);
        const int room = QFontMetrics(labels[0]->font()).horizontalAdvance(u"longdocs-128k-2"_s);
        QTRY_VERIFY(labels[1]->x() >= room);
        header.setTitle(u"longdocs"_s);
        QTRY_VERIFY2(labels[1]->x() < room, qPrintable(QString::number(labels[1]->x())));
    }

    void aBannerKeepsAFigureWithItsUnitAtTheEndOfALine() {
        const QStringList figures{show::bytes(20LL << 20), show::bytes(12LL << 30), show::bytes(900),
                                  show::duration(0.007),   show::percent(0.031),    show::duration(5)};
        Banner banner;
        banner.say(Tone::Good, u"Fits"_s, figures.join(u" of "_s), u"then "_s + figures.join(u" or "_s));
        QTextDocument text;
        text.setHtml(banner.findChild<QLabel*>()->text());
        for (int width = 120; width < 600; width += 3) {
            text.setTextWidth(width);
            QVERIFY(text.size().height() > 0);  // lays the lines out
            const QTextBlock block = text.firstBlock();
            QVERIFY(width > 200 || block.layout()->lineCount() > 3);
            for (int line = 0; line + 1 < block.layout()->lineCount(); ++line) {
                const QTextLine at = block.layout()->lineAt(line);
                const QString said = block.text().mid(at.textStart(), at.textLength()).trimmed();
                QVERIFY2(!said.back().isDigit(), qPrintable(said));
            }
        }
    }

    void anAdviceBeginsWithACapitalUnlessThatWouldChangeAName() {
        Banner banner;
        const auto advice = [&](const QString& next) {
            banner.say(Tone::Error, u"No."_s, u"Why"_s, next);
            return banner.findChild<QLabel*>()->text();
        };
        QVERIFY(advice(u"is sshd running there?"_s).contains(u">Is sshd running"_s));
        QVERIFY(advice(u"sshd は動いていますか？"_s).contains(u">sshd は"_s));
        QVERIFY(advice(u"attention's output is kept"_s).contains(u">Attention's output"_s));
        QVERIFY(advice(u"lora_r: 8"_s).contains(u">lora_r: 8"_s));
    }

    void aReasonBeginsWithACapitalUnlessThatWouldChangeAName() {
        QCOMPARE(show::begun(u"rank 1 was killed by signal 9"_s), u"Rank 1 was killed by signal 9"_s);
        QCOMPARE(show::begun(u"\u00FCber SSH nicht erreichbar"_s), u"\u00DCber SSH nicht erreichbar"_s);
        QCOMPARE(show::begun(u"rank 3 \u4EE5\u9000\u51FA"_s), u"rank 3 \u4EE5\u9000\u51FA"_s);
        QCOMPARE(show::begun(u"learning_rate is no number"_s), u"learning_rate is no number"_s);
        Banner banner;
        banner.say(Tone::Warning, u"Not all."_s, u"longdocs has no steps yet"_s);
        QCOMPARE(banner.text(), u"Not all. longdocs has no steps yet"_s);
    }

    void aListWrapsItsItemsAgainWhenItsWidthChanges() {
        QListWidget list;
        wrapItems(&list);
        list.addItem(u"a text of several words that needs two lines or more when the list is narrow"_s);
        list.resize(space(40), space(20));
        list.show();
        QVERIFY(QTest::qWaitForWindowExposed(&list));
        const auto high = [&list] { return list.visualItemRect(list.item(0)).height(); };
        const int one = high();
        list.resize(space(16), space(20));
        QTRY_VERIFY(high() >= 2 * one);
        list.resize(space(40), space(20));
        QTRY_COMPARE(high(), one);
        list.item(0)->setText(u"gradient_accumulation_steps"_s);
        list.resize(space(10), space(20));  // narrower than the key, which breaks
        QTRY_VERIFY(high() > one);
    }

    void aBannerTellsItsToneNotByColourAlone() {
        Banner banner;
        banner.say(Tone::Error, u"Will not fit."_s, u"It needs <9> GiB."_s, u"Use 4 ranks."_s);
        QCOMPARE(banner.text(), u"Will not fit. It needs <9> GiB. Use 4 ranks."_s);
        QCOMPARE(banner.accessibleName(), banner.text());
        QVERIFY(banner.findChild<QLabel*>()->text().contains(u"\u2715"_s));
        QVERIFY(banner.findChild<QLabel*>()->text().contains(u"&lt;9&gt;"_s));
    }
};

QTEST_MAIN(LookTest)
#include "look_test.moc"
