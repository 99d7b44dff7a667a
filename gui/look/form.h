/// Lines up a form's names with its fields.
#pragma once

class QFormLayout;

namespace ringmaster {

/// Gives the names of a form's fields the height of a line in the app's language. Without it, Qt would place
/// a lower name too high beside its field, such as a Latin name among Japanese ones.
void alignNames(const QFormLayout* form);

}  // namespace ringmaster
