/// Shows all runs: their main figures, the details of one, and comparisons of several.
#pragma once

#include "gui/runs/run_actions.h"
#include "gui/session/page.h"
#include "gui/session/runs_reader.h"
#include "gui/session/session.h"

class QLineEdit;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace ringmaster {

class Banner;
class CompareView;
class DetailsPanel;
class EmptyView;
class PageHeader;
class RunsFilter;
class RunsModel;
class RunsTable;

class RunsPage : public Page {
    Q_OBJECT

  public:
    explicit RunsPage(Session& session, QWidget* parent = nullptr);

    void compare(const QStringList& dirs);
    bool settled() const override;
    bool mayClose() override;

  Q_SIGNALS:
    void tryWanted(const QString& dir);  ///< asks to generate text with the run's model

  private:
    void appear() override;
    void disappear() override;
    void recolour() override;
    void resizeEvent(QResizeEvent* event) override;
    QWidget* makeList();
    QWidget* makeBar();
    void connectAll();
    void takeRows();
    void search(const QString& text);
    void showWhatIsThere();
    void choiceChanged();
    void compareChosen();
    void say(bool good, const QString& text);

    Session& m_session;
    RunActions* m_actions;
    RunsReader m_reader;
    RunsModel* m_model;
    RunsFilter* m_filter;
    PageHeader* m_header;
    Banner* m_banner;
    QLineEdit* m_search;
    QPushButton* m_compare;
    QList<QWidget*> m_tools;   ///< actions in the header; hidden if there are no runs
    QStackedWidget* m_views;   ///< pages: the list, a comparison
    QStackedWidget* m_tables;  ///< pages: the table, no run yet, no match
    RunsTable* m_table;
    QSplitter* m_splitter;
    DetailsPanel* m_details;
    CompareView* m_comparison;
};

}  // namespace ringmaster
