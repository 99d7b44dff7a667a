/// Lists the targets as a table.
#pragma once

#include <QAbstractTableModel>

#include "gui/look/look.h"
#include "gui/nodes/node_checks.h"

namespace ringmaster {

class NodesModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column { Name, State, Devices, Memory, Checked, Message, Columns };

    explicit NodesModel(NodeChecks& checks, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    void setColours(const Colours& colours);
    bool hasMessages() const;  ///< true if any target's message adds something to the other columns
    void tick();               ///< updates the ages of the checks

  private:
    QVariant textOf(int row, int column) const;

    NodeChecks& m_checks;
    Colours m_colours;
};

}  // namespace ringmaster
