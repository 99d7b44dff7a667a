"""Packs documents into rows of at most `sequence_len` tokens. Documents are never split; a row says where each begins."""

def pack(lengths, chosen, capacity, in_file_order):
    """Returns [indices of a row's documents, in the file's order] for the documents with the indices `chosen`."""
    if in_file_order:
        return next_fit(lengths, chosen, capacity)
    return first_fit_decreasing(lengths, chosen, capacity)


def pack_groups(lengths, groups, capacity):
    """Returns rows as `pack` does, in which the documents of a group (indices, in the file's order) lie together as far as they fit."""
    units = [unit for group in groups for unit in next_fit(lengths, group, capacity)]
    packed = first_fit_decreasing([sum(int(lengths[index]) for index in unit) for unit in units], range(len(units)), capacity)
    return [sorted(index for unit in row for index in units[unit]) for row in packed]


def next_fit(lengths, chosen, capacity):
    rows, room = [], 0
    for index in chosen:
        length = int(lengths[index])
        if not rows or length > room:
            rows.append([])
            room = capacity
        rows[-1].append(int(index))
        room -= length
    return rows


def first_fit_decreasing(lengths, chosen, capacity):
    order = sorted((int(index) for index in chosen), key=lambda index: (-int(lengths[index]), index))
    return [sorted(row) for row in first_fit(lengths, order, capacity)]


def first_fit(lengths, order, capacity):
    """Places one document after the other, each into the first row with room for it. A tree over the rows' room finds that row."""
    leaves = 1
    while leaves < len(order):
        leaves *= 2
    room = [capacity] * (2 * leaves)  # for each node of the tree, the largest room in any of its rows
    rows = [[] for _ in order]
    for index in order:
        length, node = int(lengths[index]), 1
        while node < leaves:
            node *= 2
            if room[node] < length:
                node += 1
        rows[node - leaves].append(index)
        room[node] -= length
        while node > 1:
            node //= 2
            room[node] = max(room[2 * node], room[2 * node + 1])
    return [row for row in rows if row]
