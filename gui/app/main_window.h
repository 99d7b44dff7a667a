/// Shows the main window: navigation on the left, and one page at a time. Only this class knows all
/// pages.
#pragma once

#include <QMainWindow>
#include <QPointer>
#include <QTimer>
#include <functional>
#include <set>
#include <vector>

#include "gui/session/page.h"
#include "gui/session/session.h"

class QLabel;
class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace ringmaster {

class DataPage;
class HelpPage;
class LaunchDialog;
class LoginPrompts;
class MonitorPage;
class PlanPage;
class QueuePage;
class RunsPage;
class TryPage;

class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(Session& session);

    void showPage(const QString& name);  ///< name of a page, such as "plan"
    QString pageName() const;
    bool hasPage(const QString& name) const;
    /// Makes the page if needed. The window opens with one page and makes the others later, when idle.
    Page* page(const QString& name);
    /// Opens a YAML file, a run directory or a run by name. Shows an error in the window if there is none.
    void openPath(const QString& path);
    void choose(const Request& asked);       ///< sets the ranks, nodes and device that Plan begins with
    void openModel(const QString& path);     ///< opens a run or a folder in Try it
    void showRows();                         ///< shows the rows of the configuration that is open in Plan
    void openRuns(const QStringList& runs);  ///< opens one run, or compares several
    void restore();                          ///< restores the last session
    void restoreSize();                      ///< restores the last size, as far as the screen has room
    void saveState();                        ///< saves the session for the next start
    QStringList liveRuns() const;            ///< runs that were started or opened here and still run

  Q_SIGNALS:
    void languageChosen(const QString& language);

  protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    struct Place {
        QString name;
        std::function<Page*()> make;
        Page* page;  ///< null until the user visits the page or makeAhead() makes it
        QPushButton* button;
        bool is_wanted = false;  ///< true if the user opened it
    };
    Page* made(Place& place);
    QWidget* makeSidebar();
    void fitSidebar();
    void addPage(const QString& name, const QString& title, const QKeySequence& keys,
                 std::function<Page*()> make);
    Page* makePlan();
    Page* makeData();
    Page* makeMonitor();
    Page* makeRuns();
    PlanPage* plan();
    DataPage* data();
    MonitorPage* monitor();
    RunsPage* runs();
    QueuePage* queue();
    TryPage* tryIt();
    HelpPage* help();
    void makeMenu(QPushButton* button);
    void openPalette();
    void connectSession();
    void connectLaunch();
    void connectElsewhere();
    void chooseConfig();
    void tellMachine();
    void setIcons();
    bool askAboutLiveRuns();
    void makeAhead();
    bool askAboutRestarts(int count);

    Session& m_session;
    QStackedWidget* m_stack;
    QVBoxLayout* m_navigation;
    QPushButton* m_menu;
    QLabel* m_machine;
    std::vector<Place> m_places;
    LaunchDialog* m_launch;
    LoginPrompts* m_prompts;
    std::set<QString> m_seen_runs;
    QTimer m_ahead;
    QList<QPointer<QWidget>> m_unstyled;  ///< widgets of the page made ahead; parents come before children
};

}  // namespace ringmaster
