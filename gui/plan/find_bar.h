/// Searches the text of the editor above.
#pragma once

#include <QLabel>
#include <QLineEdit>

#include "gui/plan/yaml_editor.h"

namespace ringmaster {

class FindBar : public QWidget {
    Q_OBJECT

  public:
    explicit FindBar(YamlEditor* editor, QWidget* parent = nullptr);

    void start();  ///< opens the bar with the selected text
    void stop();

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void look(bool backwards, bool stay);

    YamlEditor* m_editor;
    QLineEdit* m_what;
    QLabel* m_count;
};

}  // namespace ringmaster
