/// Shows the memory of the fullest rank against its device's memory, and what a node keeps in host memory and
/// on disk. A slider lets the user try sequence lengths.
#pragma once

#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTimer>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/plan/resolve/advise.h"
#include "gui/look/card.h"
#include "gui/plan/bars.h"

namespace ringmaster {

class MemoryCard : public Card {
    Q_OBJECT

  public:
    explicit MemoryCard(QWidget* parent = nullptr);

    void setPlan(const Plan& plan, bool what_if);
    /// Sets the longest sequence that fits, and the one change that would lengthen it most.
    void setLongest(std::optional<int64_t> length, const std::optional<LongerBy>& by);

  Q_SIGNALS:
    void lengthTried(qint64 length);   ///< emitted while the slider moves
    void lengthWanted(qint64 length);  ///< emitted when the slider is released; goes into the text
    void settingsWanted(const std::vector<std::pair<std::string, std::string>>& set);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    /// Shows the memory of a node's host or disk, below that of the device.
    struct Tier {
        QLabel* name;
        StackedBar* bar;
        BarLegend* legend;
    };
    Tier addTier(const char* object, const QString& accessible_name);
    void writeMemory();
    void writeTiers(const RankMemory* rank);
    void fill(const Tier& tier, const QString& words, std::vector<BarPart> parts, int64_t bytes,
              int64_t capacity);
    void writeLengths();
    void writeLonger();
    int64_t lengthAt(int position) const;
    int positionOf(int64_t length) const;
    void moved(int position);

    Plan m_plan;
    bool m_what_if = false;
    std::optional<int64_t> m_longest;
    std::optional<LongerBy> m_longer_by;
    int64_t m_multiple = 1, m_most = 4096;
    StackedBar* m_bar;
    BarLegend* m_legend;
    QLabel* m_bounds;  ///< shows the low, expected and high estimates
    Tier m_host, m_disk;
    QLabel* m_unknown;
    QWidget* m_lengths;
    MarkedSlider* m_slider;
    QSpinBox* m_length;
    QLabel* m_longest_text;
    QWidget* m_longer;
    QLabel* m_longer_text;
    QPushButton* m_apply_longer;
};

}  // namespace ringmaster
