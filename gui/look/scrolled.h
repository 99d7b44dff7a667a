/// Makes a page or panel scroll vertically only. It is transparent, and Tab passes through it.
#pragma once

#include <QScrollArea>

namespace ringmaster {

QScrollArea* scrolled(QWidget* inside, QWidget* parent = nullptr);

/// Makes a scroll area that is not narrower than its content, for one side of a splitter. Content wider than
/// `most` pixels scrolls horizontally, too.
QScrollArea* scrolled_whole(QWidget* inside, int most = QWIDGETSIZE_MAX, QWidget* parent = nullptr);

}  // namespace ringmaster
