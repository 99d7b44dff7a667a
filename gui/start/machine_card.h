/// Shows "This machine": what it has, what it lacks, and the command or button that fixes a problem. The
/// facts are collected in the background.
#pragma once

#include <QFutureWatcher>
#include <optional>

#include "gui/look/card.h"
#include "gui/session/session.h"
#include "launcher/machine/machine_report.h"

class QGridLayout;

namespace ringmaster {

/// Holds a check's texts in the app's language; `topic` is one or two words.
struct CheckWords {
    QString topic, what, fix;
};
CheckWords wordsOf(const MachineCheck& check, const MachineFacts& facts);

class MachineCard : public Card {
    Q_OBJECT

  public:
    explicit MachineCard(Session& session, QWidget* parent = nullptr);

    bool isKnown() const { return m_facts.has_value(); }
    void refresh();  ///< call this when the session knows the machine
    void show(const MachineFacts& facts);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void build();
    void addRow(const MachineCheck& check);

    Session& m_session;
    QWidget* m_rows = nullptr;
    QLabel* m_wait;
    QFutureWatcher<MachineFacts> m_watcher;
    std::optional<MachineFacts> m_facts;
};

/// Returns a link that opens a folder; a long path is elided in the middle.
QWidget* folderLink(const QString& path, QWidget* parent = nullptr);

}  // namespace ringmaster
