/// Shows the runs in a table with search, keyboard shortcuts, and columns that are remembered.
#pragma once

#include <QTableView>

#include "gui/session/session.h"

namespace ringmaster {

class RunsFilter;

class RunsTable : public QTableView {
    Q_OBJECT

  public:
    RunsTable(RunsFilter* filter, QSettings& settings, QWidget* parent = nullptr);

    QStringList chosenDirs() const;  ///< chosen runs in the table's order
    QString currentDir() const;
    void choose(const QString& dir);
    QMenu* columnsMenu();  ///< menu that shows and hides columns

  Q_SIGNALS:
    void opened(const QString& dir);  ///< emitted on Enter or a double click
    void deleteWanted();
    void choiceChanged();

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void showColumn(int column, bool shown);
    void keepColumns();
    bool restoreColumns();  ///< returns false if no columns were saved
    int wide(int column) const;
    void fitColumns();

    RunsFilter* m_filter;
    QSettings& m_settings;
    QMenu* m_columns;
    bool m_chosen = false;   ///< true: the user has chosen columns
    bool m_fitting = false;  ///< true while fitColumns() runs
};

}  // namespace ringmaster
