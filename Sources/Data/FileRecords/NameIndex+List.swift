extension NameIndex {
    /// One page of the names that a query asks for: O((items + prefixes) log n), whatever lies below a prefix.
    ///
    /// Where many names in a row are left out, a page may be short, or empty, and still have a next one.
    package func list(_ query: NameQuery) -> NameList {
        var walk = ListWalk(query)
        var position = position(atOrAfter: walk.start)
        while let found = position {
            let name = name(at: found)
            if !query.end.isEmpty, !name.lexicographicallyPrecedes(query.end) { break }
            guard name.starts(with: query.prefix) else { break }
            guard walk.list.stepCount < FileLimits.listStepCount else {
                walk.end()
                break
            }
            walk.list.stepCount += 1
            switch walk.take(name) {
            case .full: return walk.list
            case .next: position = self.position(after: found)
            case .skip(let prefix): position = self.position(atOrAfter: Self.behind(prefix))
            }
        }
        return walk.list
    }

    /// What comes after every name that begins so: UTF-8 has no byte FF.
    fileprivate static func behind(_ prefix: [UInt8]) -> [UInt8] { prefix + [0xFF] }
}

/// A page being filled.
private struct ListWalk {
    /// Where to go on.
    enum Move {
        case full, next
        case skip([UInt8])
    }

    let query: NameQuery
    var list = NameList()
    /// Where the page begins.
    let start: [UInt8]
    /// A prefix that the page before has shown; its own object is still to be shown.
    private let shown: [UInt8]?
    /// What was passed last: where the page ends when it is full.
    private var last: PageToken

    init(_ query: NameQuery) {
        self.query = query
        var first = query.prefix
        if first.lexicographicallyPrecedes(query.start) { first = query.start }
        last = query.after ?? PageToken(.name, [])
        var shown: [UInt8]?
        if let after = query.after {
            let next: [UInt8] =
                switch after.kind {
                // No name has a zero byte, so nothing lies between.
                case .name: after.name + [0]
                case .prefix: NameIndex.behind(after.name)
                case .prefixBeforeItem: after.name
                }
            if after.kind == .prefixBeforeItem { shown = after.name }
            if first.lexicographicallyPrecedes(next) { first = next }
        }
        start = first
        self.shown = shown
    }

    /// The page ends behind what was passed last.
    mutating func end() { list.next = last }

    private var isFull: Bool { list.items.count + list.prefixes.count >= query.limit }

    /// Shows a name, or what it stands for, or leaves it out.
    mutating func take(_ name: [UInt8]) -> Move {
        guard let prefix = prefix(of: name) else { return takeItem(name) }
        if query.style == .client, prefix.hasEmptySegment {
            last = PageToken(.prefix, prefix)
            return .skip(prefix)
        }
        if prefix != shown {
            if isFull {
                end()
                return .full
            }
            list.prefixes.append(String(decoding: prefix, as: UTF8.self))
        }
        if query.includesTrailingDelimiter, name == prefix {
            last = PageToken(.prefixBeforeItem, prefix)
            if isFull {
                end()
                return .full
            }
            list.items.append(ObjectName(unchecked: name))
        }
        last = PageToken(.prefix, prefix)
        return .skip(prefix)
    }

    private mutating func takeItem(_ name: [UInt8]) -> Move {
        if query.style == .client, let skipped = name.unaddressable {
            last = PageToken(skipped.count < name.count ? .prefix : .name, skipped)
            return skipped.count < name.count ? .skip(skipped) : .next
        }
        if isFull {
            end()
            return .full
        }
        list.items.append(ObjectName(unchecked: name))
        last = PageToken(.name, name)
        return .next
    }

    /// The prefix that a name is shown as; nil when it is shown itself.
    private func prefix(of name: [UInt8]) -> [UInt8]? {
        let delimiter = query.delimiter
        if delimiter.isEmpty { return nil }
        var index = query.prefix.count
        while index + delimiter.count <= name.count {
            if name[index] == delimiter[0],
                name[index..<index + delimiter.count].elementsEqual(delimiter)
            {
                return Array(name[..<(index + delimiter.count)])
            }
            index += 1
        }
        return nil
    }
}

extension [UInt8] {
    private static let slash = UInt8(ascii: "/")

    /// Whether a prefix has a segment without a character.
    fileprivate var hasEmptySegment: Bool {
        first == Self.slash
            || zip(self, dropFirst()).contains { $0 == Self.slash && $1 == Self.slash }
    }

    /// What of a name no client can address, up to and including the slash that is too much; nil when a client can.
    fileprivate var unaddressable: [UInt8]? {
        if first == Self.slash { return [Self.slash] }
        for index in indices.dropFirst() where self[index] == Self.slash {
            if self[index - 1] == Self.slash { return Array(self[...index]) }
        }
        return last == Self.slash ? self : nil
    }
}
