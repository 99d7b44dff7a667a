/// Lets the trained model of a run, or the model of a folder, continue prompts, next to its base model. The
/// same page merges an adapter into its base, uploads the model to the Hugging Face hub, and writes it as
/// GGUF.
#pragma once

#include <QPointer>
#include <QTimer>
#include <deque>

#include "gui/look/side_by_side.h"
#include "gui/session/page.h"
#include "gui/session/session.h"
#include "gui/try/try_work.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QMenu;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace ringmaster {

class Banner;
class EmptyView;
class PageHeader;

class TryPage : public Page {
    Q_OBJECT

  public:
    explicit TryPage(Session& session, QWidget* parent = nullptr);

    /// Chooses a run directory, or the folder of a model or an adapter. Earlier answers remain visible.
    void openModel(const QString& path);
    /// Asks for a folder, merges the chosen adapter into its base model and writes the result there. Does
    /// nothing if no adapter is chosen or another task runs.
    void merge();
    bool settled() const override { return !m_job; }

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    /// Holds a prompt and what the models wrote.
    struct Tried {
        QString prompt;
        bool is_chat = false;
        bool has_base = false;
        SideText base, trained;
    };
    enum class Task { Generating, Merging, Uploading, Converting };
    QString failed() const;  ///< returns a sentence that says what the task failed to do
    QWidget* makeEmpty();
    QWidget* makeWork();
    QWidget* makePrompt();
    QWidget* makeOptions();
    QWidget* makeAnswers();
    void offerModels(QMenu* menu);
    void showModel();
    void showState();
    void generate();
    void showMerged(const QString& folder);
    void offerPlaces();
    void upload();
    void writeGguf();
    void showMade(const QString& made);
    void begin(Job::Work work, const QString& doing);
    void take(const nlohmann::json& line);
    void fail(const JobFailure& failure, const QString& what);
    void endAnswers(const QString& note);
    void write();
    GenerateOptions options() const;

    Session& m_session;
    TriedModel m_model;
    std::deque<Tried> m_tried;  ///< the newest first
    QPointer<Job> m_job;
    QTimer m_soon;
    int64_t m_tokens = 0;  ///< number of tokens that the current model has written
    Task m_task = Task::Generating;

    PageHeader* m_header;
    QStackedWidget* m_stack;
    QPushButton *m_choose, *m_merge, *m_publish, *m_monitor, *m_generate, *m_cancel, *m_clear;
    QPlainTextEdit* m_prompt;
    QCheckBox *m_chat, *m_compare;
    QSpinBox *m_most_tokens, *m_top_k, *m_seed;
    QDoubleSpinBox *m_temperature, *m_top_p;
    QComboBox* m_device;
    Banner* m_banner;
    QLabel* m_doing;
    QProgressBar* m_progress;
    SideBySide* m_answers;
};

}  // namespace ringmaster
