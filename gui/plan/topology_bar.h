/// Chooses what to plan for: ranks, nodes, device and its memory. By default this is this machine.
#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QPushButton>
#include <QSpinBox>

#include "engine/plan/plan.h"
#include "launcher/run/request.h"

namespace ringmaster {

class TopologyBar : public QWidget {
    Q_OBJECT

  public:
    explicit TopologyBar(QWidget* parent = nullptr);

    void fill(Request& request) const;    ///< writes the choices into the request
    void choose(const Request& request);  ///< shows the choices that the request makes
    void showPlanned(const Plan& plan);   ///< shows the plan's values where nothing is chosen

  Q_SIGNALS:
    void changed();

  private:
    void writeAccelerate();
    void chooseAccelerate();

    QSpinBox* m_ranks;
    QSpinBox* m_nodes;
    QComboBox* m_device;
    QDoubleSpinBox* m_memory;
    QPushButton* m_accelerate;
    QString m_accelerate_file;
};

}  // namespace ringmaster
