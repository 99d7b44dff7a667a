// Tests the main window: it fits the screen, its menu can be read while open, and unsaved edits are restored
// after the app was killed.
#include <unistd.h>

#include <QApplication>
#include <QImage>
#include <QMenu>
#include <QPushButton>
#include <QScopeGuard>
#include <QScreen>
#include <QTest>
#include <QTimer>

#include <sys/wait.h>

#include "gui/app/languages.h"
#include "gui/app/main_window.h"
#include "gui/look/look.h"
#include "gui/plan/drafts.h"
#include "gui/plan/yaml_editor.h"
#include "tests/gui/own_home.h"

using namespace ringmaster;
using namespace Qt::Literals::StringLiterals;

namespace {

/// Returns the lightness of the darkest and the lightest pixel of a part of a picture.
std::pair<int, int> lightness_of(const QImage& image, const QRect& part) {
    std::pair<int, int> found{255, 0};
    for (int y = part.top(); y <= part.bottom(); ++y)
        for (int x = part.left(); x <= part.right(); ++x) {
            const int light = image.pixelColor(x, y).lightness();
            found = {std::min(found.first, light), std::max(found.second, light)};
        }
    return found;
}

}  // namespace

class WindowTest : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init() {
        m_session = std::make_unique<Session>(find_places());
        m_window = std::make_unique<MainWindow>(*m_session);
    }
    void cleanup() {
        m_window.reset();
        m_session.reset();
    }

    void theWindowFitsTheScreen() {
        const QRect room = QGuiApplication::primaryScreen()->availableGeometry();
        QVERIFY(room.width() < space(72));  // the usual width
        m_window->restoreSize();
        QVERIFY(room.contains(m_window->geometry()));
        m_window->setGeometry(room.right() - 100, room.bottom() - 100, 900, 700);
        m_window->saveState();
        MainWindow next(*m_session);
        next.restoreSize();
        QVERIFY(room.contains(next.geometry()));
    }

    void theMenusLabelIsReadWhileItIsOpen_data() {
        QTest::addColumn<int>("appearance");
        QTest::newRow("light") << int(Appearance::Light);
        QTest::newRow("dark") << int(Appearance::Dark);
    }
    void theMenusLabelIsReadWhileItIsOpen() {
        QFETCH(int, appearance);
        applyAppearance(Appearance(appearance));
        m_window->resize(800, 600);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        auto* button = m_window->findChild<QPushButton*>(u"menuButton"_s);
        QImage open;
        QTimer::singleShot(50, button, [&] {
            // The button may be transparent, so its pixels are taken from a picture of the window.
            const QRect place(button->mapTo(m_window.get(), QPoint()), button->size());
            open = m_window->grab(place).toImage();
            QTest::keyClick(button->menu(), Qt::Key_Escape);
        });
        QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(!open.isNull());
        const QSize whole = open.size();
        const auto [dark, light] = lightness_of(
            open, {whole.width() / 4, whole.height() / 4, whole.width() / 2, whole.height() / 2});
        QVERIFY2(light - dark > 100, qPrintable(u"%1 to %2"_s.arg(dark).arg(light)));
    }

    void aMenuShowsItsShortcutsInTheLanguageOfTheApp() {
        use_language(u"de"_s);
        MainWindow window(*m_session);
        QStringList shown;
        for (const QAction* action : window.actions())
            shown << action->shortcut().toString(QKeySequence::NativeText);
        use_language(u"en"_s);
        QVERIFY2(shown.contains(u"Strg+O"_s), qPrintable(shown.join(u' ')));
    }

    void editsOfAnAppThatWasKilledAreOfferedAtItsNextStart() {
        m_home.write("longdocs.yml", "base_model: meta-llama/Llama-3.2-1B\n");
        const QString file = m_home.path("longdocs.yml");
        const pid_t killed = ::fork();
        if (killed == 0) {  // this process only writes a draft, as the app does while a file is edited
            Drafts(m_home.path("data/ringmaster-window-test/drafts")).keep({file, {}, u"# kept\n"_s, 0, {}});
            ::raise(SIGKILL);
        }
        siginfo_t ended;  // the process is dead and keeps its pid, as on a desktop that does not reap it yet
        QVERIFY(killed > 0 && ::waitid(P_PID, id_t(killed), &ended, WEXITED | WNOWAIT) == 0);
        const auto reap = qScopeGuard([killed] { ::waitpid(killed, nullptr, 0); });
        m_session->settings().setValue(u"openFile"_s, file);
        MainWindow next(*m_session);
        next.restore();
        next.showPage(u"plan"_s);
        next.show();
        QVERIFY(QTest::qWaitForWindowExposed(&next));
        auto* restore = next.findChild<QPushButton*>(u"restoreDraftButton"_s);
        QVERIFY(restore && restore->isVisible());
        QTest::mouseClick(restore, Qt::LeftButton);
        QCOMPARE(next.findChild<YamlEditor*>()->text(), u"# kept\n"_s);
    }

  private:
    OwnHome m_home;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MainWindow> m_window;
};

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    QApplication::setApplicationName(u"ringmaster-window-test"_s);
    WindowTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "window_test.moc"
