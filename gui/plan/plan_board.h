/// Shows what a text means, in cards: verdict, sizes, batch, mesh, sequence, memory, time,
/// attention, experts, advice, keys.
#pragma once

#include <QScrollArea>

#include "gui/look/card.h"
#include "gui/plan/replanner.h"

namespace ringmaster {

class AdviceCard;
class AttentionCard;
class BarLegend;
class BatchCard;
class ContextCard;
class ExpertsCard;
class KeysCard;
class MemoryCard;
class MeshView;
class SequenceView;
class StackedBar;

class PlanBoard : public QScrollArea {
    Q_OBJECT

  public:
    explicit PlanBoard(QWidget* parent = nullptr);

    void clear();  ///< call this when another text is opened
    void setPlan(const PlanAnswer& answer, bool machine_known);
    void setAdvice(const Advice& advice);
    void setAdvicePending();
    const Banner* verdict() const { return m_verdict; }

  Q_SIGNALS:
    void settingsWanted(const std::vector<std::pair<std::string, std::string>>& set);
    void lengthTried(qint64 length);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    std::vector<QWidget*> cards() const;
    void connectCards();
    void writeVerdict();
    void writeDrawings();
    void writeTime();
    void wantOne(const std::string& key, const std::string& value);

    PlanAnswer m_answer;
    bool m_machine_known = false;
    bool m_shows_plan = false;
    Banner* m_verdict;
    ContextCard* m_context;
    BatchCard* m_batch;
    Card* m_mesh_card;
    MeshView* m_mesh;
    QLabel* m_mesh_note;
    Card* m_sequence_card;
    SequenceView* m_sequence;
    QLabel* m_sequence_note;
    MemoryCard* m_memory;
    Card* m_time_card;
    StackedBar* m_time;
    BarLegend* m_time_legend;
    QLabel* m_time_note;
    AttentionCard* m_attention;
    ExpertsCard* m_experts;
    AdviceCard* m_advice;
    KeysCard* m_keys;
};

}  // namespace ringmaster
