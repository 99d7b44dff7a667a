/// Shows a large button with an icon, its name, and a line that explains it.
#pragma once

#include <QAbstractButton>

namespace ringmaster {

class ActionTile : public QAbstractButton {
    Q_OBJECT

  public:
    ActionTile(const QString& icon, const QString& title, const QString& explanation,
               QWidget* parent = nullptr);

    void setStrong(bool strong);  ///< highlights the tile that most people need
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

  private:
    int textWidth(int width) const;

    QString m_icon, m_explanation;
    bool m_strong = false;
};

}  // namespace ringmaster
