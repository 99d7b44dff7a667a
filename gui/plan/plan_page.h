/// Shows the YAML as text on the left and its plan on the right, and plans again at every change. The page
/// decides nothing itself: engine/config/edit.h edits texts, engine/plan makes plans.
#pragma once

#include <QFileSystemWatcher>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <functional>
#include <optional>

#include "engine/config/edit.h"
#include "gui/look/card.h"
#include "gui/plan/drafts.h"
#include "gui/plan/file_text.h"
#include "gui/plan/kept_batch.h"
#include "gui/plan/replanner.h"
#include "gui/session/page.h"
#include "gui/session/session.h"

class QSplitter;

namespace ringmaster {

class FindBar;
class PlanBoard;
class ProblemList;
class TopologyBar;
class YamlEditor;

class PlanPage : public Page {
    Q_OBJECT

  public:
    explicit PlanPage(Session& session, QWidget* parent = nullptr);
    ~PlanPage() override;

    void openFile(const QString& file);
    void openText(const QString& text, const QString& base_dir);  ///< opens an unsaved copy
    /// Sets the ranks, nodes, device, device memory and accelerate file that the command line or another page
    /// asks for.
    void choose(const Request& request);
    QString file() const { return m_file; }
    bool isEdited() const;

    bool settled() const override;
    bool mayClose() override;
    void showRows();           ///< emits rowsWanted for the open text, if any
    QString rowsFile() const;  ///< path that showRows() requests; empty while nothing is open

  Q_SIGNALS:
    void rowsWanted(const ringmaster::Request& request, const QString& text);  ///< emits the edited text

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    QWidget* makeLeft();
    void arrange();
    void shareSheet();
    void makeHeader();
    void connectAll();
    void addShortcuts();

    void present(const FileText& text, const QString& file, const QString& base_dir);
    void replan();
    void tryLength(qint64 length);
    void take(const PlanAnswerPtr& planned);
    Request request() const;

    void applyEdit(const std::function<std::string(const std::string&)>& edit);
    void adaptText();
    bool save();
    bool saveAs();
    bool saveTo(const QString& file);
    bool askToSave();  ///< offers to save edits; returns false if the user cancels or saving fails
    void launch();

    void watchFile();
    void fileChanged();
    void keepDraft();
    void offerDraft();
    void writeHeader();
    void say(Tone tone, const QString& what, const QString& why = {});
    void complain(const std::exception& problem);

    Session& m_session;
    Drafts m_drafts;
    Replanner m_replanner;
    QFileSystemWatcher m_watcher;
    QTimer m_draft_timer;

    QString m_file;      ///< empty: the text was never saved
    QString m_base_dir;  ///< folder of a text without a file
    FileText m_format;   ///< line ends and byte order mark of the file
    QByteArray m_saved;  ///< the file's bytes as last read or written
    bool m_open = false;
    int m_planned = 0, m_asked = 0, m_advised = 0;
    PlanAnswerPtr m_answer;
    KeptBatch m_kept;

    PageHeader* m_header;
    Banner* m_notice;             ///< reports a file that cannot be read or saved, or that has changed
    bool m_edit_refused = false;  ///< true if the notice reports a refused edit; the next edit hides it
    Banner* m_draft_notice;       ///< offers an edit that a crash left behind
    QStackedWidget* m_stack;
    QSplitter* m_work;            ///< the text and the plan
    QSplitter* m_sheet;           ///< the text and its problems
    bool m_sheet_chosen = false;  ///< true if the user has moved the border between text and problems
    TopologyBar* m_topology;
    YamlEditor* m_editor;
    FindBar* m_find;
    ProblemList* m_problems;
    PlanBoard* m_board;
    QPushButton* m_save;
    QPushButton* m_save_as;
    QPushButton* m_rows;
    QPushButton* m_adapt;  ///< shown if the plan has an error or does not fit into memory
    QPushButton* m_launch;
};

}  // namespace ringmaster
