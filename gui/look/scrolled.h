/// Makes a page or panel scroll vertically only. It is transparent, and Tab passes through it.
#pragma once

#include <QScrollArea>

namespace ringmaster {

QScrollArea* scrolled(QWidget* inside, QWidget* parent = nullptr);

}  // namespace ringmaster
