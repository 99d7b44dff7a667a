/// Lists the phases of a long task from top to bottom: done, in progress, to come, failed.
#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QStringList>
#include <QWidget>
#include <vector>

namespace ringmaster {

class Stepper : public QWidget {
    Q_OBJECT

  public:
    explicit Stepper(const QStringList& phases, QWidget* parent = nullptr);

    void reach(int phase);  ///< marks earlier phases done and `phase` in progress
    void finish();          ///< marks all phases done
    void fail();            ///< marks the phase in progress as failed
    /// Shows progress of the current phase; `total` is 0 if not known.
    void progress(const QString& what, qint64 done, qint64 total, bool is_bytes = false);
    int current() const { return m_current; }

  private:
    enum class State { Waiting, Working, Done, Failed };
    struct Row {
        QLabel* symbol;
        QLabel* name;
        QLabel* detail;
        QProgressBar* bar;
    };
    void show(size_t phase, State state);

    std::vector<Row> m_rows;
    int m_current = -1;
};

}  // namespace ringmaster
