/// Shows first steps, the meaning of each figure, and every diagnostic code, from resources/help in the app's
/// language.
#pragma once

#include "gui/session/page.h"
#include "gui/session/session.h"

class QLineEdit;
class QListWidget;
class QTextBrowser;

namespace ringmaster {

class HelpPage : public Page {
    Q_OBJECT

  public:
    explicit HelpPage(Session& session, QWidget* parent = nullptr);

    /// Shows a topic of the guide, a figure or a finding by its id; an unknown id shows the guide.
    void explain(const QString& what);

  private:
    void showEntry(int row);
    void filter(const QString& words);
    void recolour() override;

    QLineEdit* m_search;
    QListWidget* m_list;
    QTextBrowser* m_text;
};

}  // namespace ringmaster
