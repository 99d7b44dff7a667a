/// Shows the rows of a configuration as the model sees them: what is trained, what is only read, what was
/// left out, and when and where each row is trained on.
#pragma once

#include <QFutureWatcher>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <stop_token>

#include "gui/data/rows_work.h"
#include "gui/session/page.h"
#include "gui/session/session.h"

namespace ringmaster {

class Banner;
class EmptyView;
class Figure;
class LengthChart;
class PageHeader;
class RowList;
class RowText;

class DataPage : public Page {
    Q_OBJECT

    using PlacementPtr = std::shared_ptr<const Placement>;

  public:
    explicit DataPage(Session& session, QWidget* parent = nullptr);
    ~DataPage() override;

    /// Prepares the rows of a text and shows them.
    void openRows(const Request& request, const QString& text);

    /// Shows a button that opens the rows of `file`, unless the page shows them already. An empty `file`
    /// hides the button.
    void offer(const QString& file);

    bool settled() const override;

  Q_SIGNALS:
    void rowsWanted();  ///< asks for the rows of the file that was offered

  private:
    QWidget* makeWork();
    QWidget* makeRows();
    QWidget* makeSide();
    QWidget* makeDetails();
    void connectAll();
    void start();
    void take();
    void fail(const JobFailure& failure);
    void showSurvey();
    void showPlace();
    void showRow(qint64 row);
    void writeLosses();
    void search();
    void sayFound(const QString& words);

    Session& m_session;
    RowsQuestion m_question;
    OpenRowsPtr m_rows;
    PlacementPtr m_placement;  ///< null until it is computed
    QString m_row_words;       ///< text about the chosen row, without its place
    QPointer<Job> m_job;
    QFutureWatcher<RowsSurvey> m_survey;
    QFutureWatcher<PlacementPtr>
        m_placing;  ///< shuffles the epoch, which takes a second for ten million rows
    QFutureWatcher<std::vector<int64_t>> m_search;
    std::stop_source m_stop_search;
    QTimer m_soon;
    bool m_knew_machine = false;  ///< true: the plan knew this machine; false: its rank count is a guess

    PageHeader* m_header;
    QStackedWidget* m_stack;
    QPushButton *m_open, *m_offer_first, *m_offer_other;
    QLabel* m_phase;
    QProgressBar* m_progress;
    Banner* m_problem;
    Figure *m_count, *m_tokens, *m_trained, *m_longest;
    LengthChart* m_lengths;
    QLabel* m_losses;
    QLineEdit* m_words;
    QLabel* m_found;
    RowList* m_list;
    QLabel* m_place;
    RowText* m_text;
};

}  // namespace ringmaster
