/// Lines up a form's names with its fields.
#pragma once

class QFormLayout;

namespace ringmaster {

/// Gives the names of a form's fields the height of a line in the app's language. Otherwise Qt would place a
/// lower name, such as a Latin name among Japanese ones, too high next to its field.
void alignNames(const QFormLayout* form);

}  // namespace ringmaster
