/// The names of a bucket's objects in the order of their bytes.
///
/// Three levels of arrays: groups of pages of names. The first name of each page is what a search compares with.
///
///     groups      [ ─┬─────────── , ─┬──── ]
///     pages          │ a/1 a/2 b │   │ n q │
///                    │ c d/e     │   │ s   │
///
/// A search takes O(log n) comparisons. A change moves bytes of one page; one in some fifty changes also moves the pages of one
/// group, and one in some thousand the groups, eight bytes each. A copy shares the memory until one of both changes.
///
/// JSON trees of this project are no index for names: their keys have 768 bytes and an order of their own.
package struct NameIndex: Sendable {
    /// Pages of a group before it is cut in two.
    private static let groupLimit = 64

    private(set) var groups: [NameGroup] = []

    /// How many names there are.
    package private(set) var count = 0

    /// No names.
    package init() {}

    /// Some pages one behind the other.
    struct NameGroup: Sendable {
        var pages: [NamePage]
    }

    /// The position of a name, valid until the index changes.
    package struct Position: Sendable, Equatable {
        fileprivate var group: Int
        fileprivate var page: Int
        fileprivate var index: Int
    }

    /// The position of the first name that is not before `name`; nil behind all.
    package func position(atOrAfter name: [UInt8]) -> Position? {
        let (group, page) = location(of: name)
        if groups.isEmpty { return nil }
        let index = groups[group].pages[page].position(of: name)
        return settled(Position(group: group, page: page, index: index))
    }

    /// The position behind one; nil behind all.
    package func position(after position: Position) -> Position? {
        var next = position
        next.index += 1
        return settled(next)
    }

    /// The name at a position.
    package func name(at position: Position) -> [UInt8] {
        groups[position.group].pages[position.page].name(position.index)
    }

    /// Whether a name is there.
    package func contains(_ name: ObjectName) -> Bool {
        guard let position = position(atOrAfter: name.utf8) else { return false }
        return groups[position.group].pages[position.page]
            .isName(position.index, equalTo: name.utf8)
    }

    /// Adds a name; false when it is there already.
    @discardableResult
    package mutating func insert(_ name: ObjectName) -> Bool {
        let name = name.utf8
        if groups.isEmpty { groups = [NameGroup(pages: [NamePage()])] }
        let (group, page) = location(of: name)
        let index = groups[group].pages[page].position(of: name)
        if index < groups[group].pages[page].count,
            groups[group].pages[page].isName(index, equalTo: name)
        {
            return false
        }
        count += 1
        groups[group].pages[page].insert(name, at: index)
        if groups[group].pages[page].isFull {
            let second = groups[group].pages[page].cut(addedAt: index)
            groups[group].pages.insert(second, at: page + 1)
            cutGroup(group, addedAt: page + 1)
        }
        return true
    }

    /// Removes a name; false when it is not there.
    @discardableResult
    package mutating func remove(_ name: ObjectName) -> Bool {
        let name = name.utf8
        if groups.isEmpty { return false }
        let (group, page) = location(of: name)
        let index = groups[group].pages[page].position(of: name)
        guard index < groups[group].pages[page].count,
            groups[group].pages[page].isName(index, equalTo: name)
        else { return false }
        count -= 1
        groups[group].pages[page].remove(at: index)
        joinPage(group, page)
        joinGroup(group)
        return true
    }

    // MARK: - Levels

    /// The group and the page where a name is or belongs: the last that begins at or before it, else the first.
    private func location(of name: [UInt8]) -> (group: Int, page: Int) {
        let group = Self.last(groups.count) { !groups[$0].pages[0].isName(0, after: name) }
        if groups.isEmpty { return (0, 0) }
        let pages = groups[group].pages
        return (group, Self.last(pages.count) { !pages[$0].isName(0, after: name) })
    }

    /// The last index for which `isBefore` holds, or 0; it holds for the first ones.
    private static func last(_ count: Int, where isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (1, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    /// Moves a position behind the last name of a page to the first of the next one.
    private func settled(_ position: Position) -> Position? {
        if position.index < groups[position.group].pages[position.page].count { return position }
        if position.page + 1 < groups[position.group].pages.count {
            return Position(group: position.group, page: position.page + 1, index: 0)
        }
        if position.group + 1 < groups.count {
            return Position(group: position.group + 1, page: 0, index: 0)
        }
        return nil
    }

    /// Cuts a group that has too many pages: in the middle, or behind its end when names come in order.
    private mutating func cutGroup(_ group: Int, addedAt page: Int) {
        let count = groups[group].pages.count
        if count <= Self.groupLimit { return }
        let middle = page == count - 1 ? count - 1 : count / 2
        let second = NameGroup(pages: Array(groups[group].pages[middle...]))
        groups[group].pages.removeSubrange(middle...)
        groups.insert(second, at: group + 1)
    }

    /// Removes an empty page, or joins a short one with a neighbour, to three quarters of a page at most.
    private mutating func joinPage(_ group: Int, _ page: Int) {
        let byteCount = groups[group].pages[page].bytes.count
        if groups[group].pages[page].count == 0 {
            groups[group].pages.remove(at: page)
            return
        }
        if byteCount > NamePage.byteLimit / 4 { return }
        let first = page + 1 < groups[group].pages.count ? page : page - 1
        if first < 0 { return }
        let next = groups[group].pages[first + 1]
        let sum = groups[group].pages[first].bytes.count + next.bytes.count
        if sum > NamePage.byteLimit * 3 / 4 { return }
        groups[group].pages.remove(at: first + 1)
        groups[group].pages[first].append(next)
    }

    /// The same for groups.
    private mutating func joinGroup(_ group: Int) {
        let count = groups[group].pages.count
        if count == 0 {
            groups.remove(at: group)
            return
        }
        if count > Self.groupLimit / 4 { return }
        let first = group + 1 < groups.count ? group : group - 1
        if first < 0 { return }
        let sum = groups[first].pages.count + groups[first + 1].pages.count
        if sum > Self.groupLimit * 3 / 4 { return }
        let next = groups.remove(at: first + 1)
        groups[first].pages += next.pages
    }

    /// Bytes of memory that the index takes, the room that its arrays keep included. O(pages).
    package var memoryByteCount: Int {
        groups.reduce(groups.capacity * MemoryLayout<NameGroup>.stride) { sum, group in
            let slack = group.pages.capacity - group.pages.count
            return sum + 32 + slack * MemoryLayout<NamePage>.stride
                + group.pages.reduce(0) { $0 + $1.memoryByteCount }
        }
    }
}
