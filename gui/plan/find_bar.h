/// Looks for words in the editor above it.
#pragma once

#include <QLabel>
#include <QLineEdit>

#include "gui/plan/yaml_editor.h"

namespace ringmaster {

class FindBar : public QWidget {
    Q_OBJECT

  public:
    explicit FindBar(YamlEditor* editor, QWidget* parent = nullptr);

    void start();  ///< shown, with what is selected
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
