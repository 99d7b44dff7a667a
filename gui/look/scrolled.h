/// A page or panel that scrolls up and down only, transparent, the tab key passing through it.
#pragma once

#include <QScrollArea>

namespace ringmaster {

QScrollArea* scrolled(QWidget* inside, QWidget* parent = nullptr);

}  // namespace ringmaster
