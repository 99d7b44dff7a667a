/// Lays out the top of a page: a title, a subtitle next to it, and actions at the right. If they do not fit
/// on one line, the subtitle goes below the title. If the title and the actions do not fit either, the
/// actions go below and wrap.
#pragma once

#include <QLayout>

namespace ringmaster {

class FlowLayout;

class HeaderLayout : public QLayout {
    Q_OBJECT

  public:
    HeaderLayout(QWidget* title, QWidget* subtitle, QWidget* parent);
    ~HeaderLayout() override;

    void addAction(QWidget* widget);

    void addItem(QLayoutItem* item) override;  ///< only for the constructor
    int count() const override { return int(m_items.size()); }
    QLayoutItem* itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return arrange({0, 0, width, 0}, false); }
    QSize sizeHint() const override;
    QSize minimumSize() const override;
    void setGeometry(const QRect& rect) override;

  private:
    int arrange(const QRect& rect, bool apply) const;

    FlowLayout* m_actions;
    QList<QLayoutItem*> m_items;  ///< the title, the subtitle, and the actions
};

}  // namespace ringmaster
