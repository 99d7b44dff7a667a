/// Compares two to eight runs side by side: overlaid curves, figures with "better" or "worse", and only the
/// configuration lines that differ.
#pragma once

#include <QFutureWatcher>
#include <QWidget>

#include "gui/session/session.h"
#include "launcher/history/compare.h"

class QButtonGroup;
class QCheckBox;
class QLabel;
class QTableView;

namespace ringmaster {

class Banner;
class ChartCard;
class FiguresModel;
class LinesModel;
class PageHeader;

class CompareView : public QWidget {
    Q_OBJECT

  public:
    explicit CompareView(Session& session, QWidget* parent = nullptr);

    void compare(const QStringList& dirs);
    bool settled() const { return m_taken == m_job; }
    const Comparison& comparison() const { return m_comparison; }

  Q_SIGNALS:
    void left();  ///< emitted when the user goes back to the table

  protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    struct Outcome {
        int job = 0;
        Comparison comparison;
        QString problem;
    };
    QWidget* makeControls();
    void take();
    void draw();
    void showProblems(const QString& problem);
    void fitTables();

    Session& m_session;
    PageHeader* m_header;
    Banner* m_banner;
    QButtonGroup* m_along;
    QCheckBox* m_log;
    std::vector<ChartCard*> m_charts;
    QTableView* m_figures;
    QTableView* m_lines;
    QLabel* m_noLines;
    FiguresModel* m_figuresModel;
    LinesModel* m_linesModel;
    QFutureWatcher<Outcome> m_watcher;
    Comparison m_comparison;
    int m_job = 0;
    int m_taken = 0;  ///< number of the job whose result is shown
    int m_drawnWidth = -1;
};

}  // namespace ringmaster
