/// What a job asks of Slurm: the usual in fields of their own, anything else as lines of key=value.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "launcher/anywhere/roster.h"

class QComboBox;
class QLineEdit;
class QPlainTextEdit;
class QSettings;
class QSpinBox;

namespace ringmaster {

class SlurmFields : public QWidget {
    Q_OBJECT

  public:
    SlurmFields(const std::vector<RosterEntry>& roster, QSettings& settings, QWidget* parent = nullptr);

    std::string login() const;               ///< the login node; empty: this machine
    std::vector<std::string> words() const;  ///< as --slurm takes them
    void keep();                             ///< for the next time

  Q_SIGNALS:
    void changed();

  private:
    void restore();
    void loginChanged();

    std::vector<RosterEntry> m_clusters;
    QSettings& m_settings;
    QComboBox *m_login, *m_partition;
    QLineEdit *m_account, *m_time, *m_gres;
    QSpinBox* m_nodes;
    QPlainTextEdit* m_more;
};

}  // namespace ringmaster
