/// Lets the user add a target: its kind, and which machine.
#pragma once

#include <QWidget>

#include "launcher/anywhere/targets.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace ringmaster {

class AddTarget : public QWidget {
    Q_OBJECT

  public:
    explicit AddTarget(QWidget* parent = nullptr);

  Q_SIGNALS:
    void wanted(const ringmaster::Target& target);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void kindChanged();
    void hostChanged();
    void add();
    void readAliases();
    TargetKind kind() const;
    bool needsHost() const;

    QComboBox* m_kind;
    QComboBox* m_host;
    QPushButton* m_add;
    QLabel* m_problem;
};

}  // namespace ringmaster
