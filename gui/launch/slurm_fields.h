/// Edits a job's options for Slurm: common ones in their own fields, all others as lines of key=value.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "launcher/anywhere/saved_targets.h"

class QComboBox;
class QLineEdit;
class QPlainTextEdit;
class QSettings;
class QSpinBox;

namespace ringmaster {

class SlurmFields : public QWidget {
    Q_OBJECT

  public:
    SlurmFields(const std::vector<SavedTarget>& saved, QSettings& settings, QWidget* parent = nullptr);

    std::string login() const;               ///< login node; empty: this machine
    std::vector<std::string> words() const;  ///< options as --slurm takes them
    void keep();                             ///< remembers the fields for next time

  Q_SIGNALS:
    void changed();

  private:
    void layOut();
    void restore();
    void loginChanged();

    std::vector<SavedTarget> m_clusters;
    QSettings& m_settings;
    QComboBox *m_login, *m_partition;
    QLineEdit *m_account, *m_time, *m_gres;
    QSpinBox* m_nodes;
    QPlainTextEdit* m_more;
};

}  // namespace ringmaster
