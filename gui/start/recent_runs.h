/// Lists the newest runs with two lines each: state, name, progress, loss, time.
#pragma once

#include <QAbstractListModel>
#include <QListView>
#include <vector>

#include "gui/look/run_mark.h"
#include "launcher/history/run_table.h"

namespace ringmaster {

class RecentRunsModel : public QAbstractListModel {
    Q_OBJECT

  public:
    enum Role { DirRole = Qt::UserRole, MarkRole, SecondLineRole, LiveRole };

    using QAbstractListModel::QAbstractListModel;
    /// Shows the first `most` of `rows`, live runs first.
    void setRows(const std::vector<RunRow>& rows, size_t most);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

  private:
    struct Entry {
        QString name, dir, second;
        RunMark mark = RunMark::Waiting;
        bool live = false;
        bool operator==(const Entry&) const = default;
    };
    static Entry entryOf(const RunRow& row);

    std::vector<Entry> m_entries;
};

/// Returns the width in pixels that a row, with or without a mark, leaves for its text.
int roomOfText(int row_width, bool has_mark, const QFontMetrics& metrics);

/// Lists rows of two lines, and emits `chosen` on Enter or a double click.
class TwoLineList : public QListView {
    Q_OBJECT

  public:
    explicit TwoLineList(QWidget* parent = nullptr);
    QSize sizeHint() const override;
    int rowHeight() const;

  Q_SIGNALS:
    void chosen(const QString& what);  ///< `what` is the row's data for Qt::UserRole

  protected:
    void keyPressEvent(QKeyEvent* event) override;
};

}  // namespace ringmaster
