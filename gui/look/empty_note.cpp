#include "gui/look/empty_note.h"

#include <QVBoxLayout>

#include "gui/look/card.h"

namespace ringmaster {

QLabel* sayIfEmpty(QAbstractItemView* view, const QString& text) {
    QLabel* note = mutedLabel(text);
    note->setAlignment(Qt::AlignCenter);
    note->setWordWrap(true);
    note->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* layout = new QVBoxLayout(view->viewport());
    layout->addWidget(note);
    const auto show = [view, note] { note->setVisible(view->model()->rowCount() == 0); };
    for (auto changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        QObject::connect(view->model(), changed, note, show);
    QObject::connect(view->model(), &QAbstractItemModel::modelReset, note, show);
    show();
    return note;
}

}  // namespace ringmaster
