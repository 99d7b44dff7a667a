/// The phases of a long undertaking, one under the other: done, at work, still to come, failed.
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

    void reach(int phase);  ///< those before it are done; `phase` is at work
    void finish();          ///< all are done
    void fail();            ///< the one at work has failed
    /// Of the phase at work; `total` 0: not known.
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
