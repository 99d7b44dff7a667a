/// Lays out small controls side by side and wraps them into lines like the words of a paragraph; centres them
/// vertically in their line. With Qt::AlignHCenter, lines are centred; else they begin at the left.
#pragma once

#include <QLayout>

namespace ringmaster {

class FlowLayout : public QLayout {
    Q_OBJECT

  public:
    explicit FlowLayout(int gap, QWidget* parent = nullptr);
    ~FlowLayout() override;

    void addItem(QLayoutItem* item) override { m_items.append(item); }
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

    int m_line_gap;
    QList<QLayoutItem*> m_items;
};

}  // namespace ringmaster
