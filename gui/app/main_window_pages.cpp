// Makes the pages and connects each with the others; the window's other code is in main_window.cpp.
#include <QFileInfo>
#include <QStatusBar>

#include "engine/error.h"
#include "gui/app/main_window.h"
#include "gui/data/data_page.h"
#include "gui/help/help_page.h"
#include "gui/monitor/monitor_page.h"
#include "gui/plan/plan_page.h"
#include "gui/queue/queue_page.h"
#include "gui/runs/runs_page.h"
#include "gui/session/finding_words.h"
#include "gui/try/try_page.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

Page* MainWindow::makePlan() {
    auto* made = new PlanPage(m_session);
    connect(made, &PlanPage::rowsWanted, this, [this](const Request& request, const QString& text) {
        showPage(u"data"_s);
        data()->openRows(request, text);
    });
    return made;
}

Page* MainWindow::makeData() {
    auto* made = new DataPage(m_session);
    connect(made, &DataPage::rowsWanted, this, &MainWindow::showRows);
    return made;
}

Page* MainWindow::makeMonitor() {
    auto* made = new MonitorPage(m_session);
    connect(made, &MonitorPage::tryWanted, this, &MainWindow::openModel);
    connect(made, &MonitorPage::mergeWanted, this, [this](const QString& dir) {
        openModel(dir);
        tryIt()->merge();
    });
    return made;
}

Page* MainWindow::makeRuns() {
    auto* made = new RunsPage(m_session);
    connect(made, &RunsPage::tryWanted, this, &MainWindow::openModel);
    return made;
}

void MainWindow::openModel(const QString& path) {
    showPage(u"try"_s);
    QString model = path;
    if (!QFileInfo(path).isDir()) {
        try {
            model = QString::fromStdString(
                find_run(path.toStdString(), m_session.places().runs_dir).dir.string());
        } catch (const Error& error) {
            statusBar()->showMessage(text_of(error));
            return;
        }
    }
    tryIt()->openModel(model);
}

DataPage* MainWindow::data() {
    return static_cast<DataPage*>(page(u"data"_s));
}

void MainWindow::showRows() {
    plan()->showRows();
}

PlanPage* MainWindow::plan() {
    return static_cast<PlanPage*>(page(u"plan"_s));
}
MonitorPage* MainWindow::monitor() {
    return static_cast<MonitorPage*>(page(u"monitor"_s));
}
RunsPage* MainWindow::runs() {
    return static_cast<RunsPage*>(page(u"runs"_s));
}
QueuePage* MainWindow::queue() {
    return static_cast<QueuePage*>(page(u"queue"_s));
}
TryPage* MainWindow::tryIt() {
    return static_cast<TryPage*>(page(u"try"_s));
}
HelpPage* MainWindow::help() {
    return static_cast<HelpPage*>(page(u"help"_s));
}

}  // namespace ringmaster
