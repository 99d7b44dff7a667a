// Tests that every control of every page can be reached by keyboard and has a name for a screen reader, and
// that every chart is described.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QScrollBar>
#include <QTest>
#include <QTextEdit>
#include <set>

#include "gui/app/languages.h"
#include "gui/app/main_window.h"
#include "gui/look/look.h"
#include "tests/gui/own_home.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

bool is_control(const QWidget* widget) {
    if (qobject_cast<const QScrollBar*>(widget)) return false;
    const QWidget* parent = widget->parentWidget();
    if (parent && (qobject_cast<const QAbstractSpinBox*>(parent) || qobject_cast<const QComboBox*>(parent) ||
                   qobject_cast<const QLineEdit*>(parent) || qobject_cast<const QAbstractItemView*>(parent)))
        return false;  // it is part of another control, such as a line's clear button or a header
    return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QAbstractItemView*>(widget) ||
           qobject_cast<const QAbstractSlider*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget) ||
           qobject_cast<const QComboBox*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
           qobject_cast<const QPlainTextEdit*>(widget) || qobject_cast<const QTextEdit*>(widget);
}

const QStringList kDrawings{u"MeshView"_s, u"SequenceView"_s, u"StackedBar"_s,
                            u"Plot"_s,     u"HeatMap"_s,      u"EstimateBars"_s};

QString called(const QWidget* widget) {
    return QString::fromLatin1(widget->metaObject()->className()) + u' ' + widget->objectName();
}

QString name_of(QWidget* widget) {
    QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
    return face ? face->text(QAccessible::Name) : QString();
}

/// Returns the widgets that Tab reaches from `window` in one round.
std::set<const QWidget*> reached_by_tab(const QWidget* window) {
    std::set<const QWidget*> reached;
    const QWidget* widget = window;
    do {
        if (widget->isVisibleTo(window) && widget->isEnabled() && (widget->focusPolicy() & Qt::TabFocus))
            reached.insert(widget);
        widget = widget->nextInFocusChain();
    } while (widget != window);
    return reached;
}

}  // namespace

class ControlsTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        const int written = QProcess::execute(QStringLiteral(RINGMASTER_DEMO_RUNS), {m_home.path()});
        QCOMPARE(written, 0);
        applyAppearance(Appearance::Light);
        m_session = std::make_unique<Session>(find_places());
        m_window = std::make_unique<MainWindow>(*m_session);
        m_window->resize(1280, 900);
        m_window->show();
    }

    void everyControlIsNamedAndReachable_data() {
        QTest::addColumn<QString>("page");
        QTest::addColumn<QString>("what");
        QTest::newRow("start") << u"start"_s << QString();
        QTest::newRow("plan, empty") << u"plan"_s << QString();
        QTest::newRow("plan") << u"plan"_s << m_home.path() + u"/longdocs.yml"_s;
        QTest::newRow("plan with mistakes") << u"plan"_s << m_home.path() + u"/mistakes.yml"_s;
        QTest::newRow("data, empty") << u"data"_s << QString();
        QTest::newRow("nodes") << u"nodes"_s << QString();
        QTest::newRow("monitor, empty") << u"monitor"_s << QString();
        QTest::newRow("monitor") << u"monitor"_s << u"longdocs-2"_s;
        QTest::newRow("monitor, 64 ranks") << u"monitor"_s << u"longdocs-64"_s;
        QTest::newRow("runs") << u"runs"_s << QString();
        QTest::newRow("compare") << u"runs"_s << u"longdocs-lr1e-5 longdocs-lr2e-5"_s;
        QTest::newRow("queue") << u"queue"_s << QString();
        QTest::newRow("try, empty") << u"try"_s << QString();
        QTest::newRow("help") << u"help"_s << QString();
    }
    void everyControlIsNamedAndReachable() {
        QFETCH(QString, page);
        QFETCH(QString, what);
        if (page == u"runs"_s && !what.isEmpty()) {
            m_window->openRuns(what.split(u' '));
        } else if (!what.isEmpty()) {
            m_window->openPath(what);
        }
        m_window->showPage(page);
        QCOMPARE(m_window->pageName(), page);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->page(page)->settled(), 20000);
        QTest::qWait(100);
        const std::set<const QWidget*> reached = reached_by_tab(m_window.get());
        QStringList unnamed, unreachable;
        int controls = 0;
        for (QWidget* widget : m_window->findChildren<QWidget*>()) {
            if (!widget->isVisible() || !is_control(widget)) continue;
            ++controls;
            if (name_of(widget).isEmpty()) unnamed << called(widget);
            if (widget->isEnabled() && !reached.count(widget)) unreachable << called(widget);
        }
        QVERIFY(controls > 5);
        QVERIFY2(unnamed.isEmpty(), qPrintable(u"without a name: "_s + unnamed.join(u", "_s)));
        QVERIFY2(unreachable.isEmpty(), qPrintable(u"not reached by Tab: "_s + unreachable.join(u", "_s)));
    }

    void everyChartAndDrawingIsDescribed_data() {
        QTest::addColumn<QString>("page");
        QTest::addColumn<QString>("what");
        QTest::newRow("plan") << u"plan"_s << m_home.path() + u"/longdocs-2.yml"_s;
        QTest::newRow("monitor") << u"monitor"_s << u"longdocs-2"_s;
    }
    void everyChartAndDrawingIsDescribed() {
        QFETCH(QString, page);
        QFETCH(QString, what);
        m_window->openPath(what);
        QCOMPARE(m_window->pageName(), page);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->page(page)->settled(), 20000);
        QTest::qWait(100);
        int drawings = 0;
        for (QWidget* widget : m_window->page(page)->findChildren<QWidget*>()) {
            const QByteArray kind = QByteArray(widget->metaObject()->className()).replace("ringmaster::", "");
            if (!widget->isVisible() || !kDrawings.contains(QString::fromLatin1(kind))) continue;
            ++drawings;
            QVERIFY2(!widget->accessibleName().isEmpty(), kind.constData());
            QVERIFY2(!widget->accessibleDescription().isEmpty(), kind.constData());
        }
        QVERIFY2(drawings >= 4, qPrintable(QString::number(drawings)));
    }

    void pagesAreReachedByTheirShortcuts() {
        const std::pair<int, QString> keys[] = {{Qt::Key_1, u"start"_s}, {Qt::Key_2, u"plan"_s},
                                                {Qt::Key_3, u"nodes"_s}, {Qt::Key_4, u"monitor"_s},
                                                {Qt::Key_5, u"runs"_s},  {Qt::Key_7, u"try"_s},
                                                {Qt::Key_8, u"queue"_s}};
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        for (const auto& [key, page] : keys) {
            QTest::keyClick(m_window.get(), Qt::Key(key), Qt::ControlModifier);
            QCOMPARE(m_window->pageName(), page);
        }
        QTest::keyClick(m_window.get(), Qt::Key_F1);
        QCOMPARE(m_window->pageName(), u"help"_s);
    }

    void theSidebarHasRoomForTheNameOfTheOpenPage_data() {
        QTest::addColumn<QString>("language");
        for (const char* language : {"en", "de", "ja", "zh_CN"})
            QTest::newRow(language) << QString::fromLatin1(language);
    }
    void theSidebarHasRoomForTheNameOfTheOpenPage() {
        QFETCH(QString, language);
        use_language(language);
        MainWindow window(*m_session);
        use_language(u"en"_s);
        window.resize(1024, 700);
        window.show();
        int names = 0;
        for (const QPushButton* button : window.findChildren<QPushButton*>()) {
            if (!button->objectName().startsWith(u"go-"_s)) continue;
            ++names;
            QFont bold = button->font();
            bold.setWeight(QFont::DemiBold);
            const int needed = button->sizeHint().width() +
                               QFontMetrics(bold).horizontalAdvance(button->text()) -
                               button->fontMetrics().horizontalAdvance(button->text());
            QVERIFY2(button->width() >= needed, qPrintable(button->text()));
        }
        QVERIFY(names >= 9);
    }

  private:
    OwnHome m_home;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(ControlsTest)
#include "controls_test.moc"
