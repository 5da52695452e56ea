import FileRecords

/// A list worked out from a set of names, the plainest way: every name is looked at, and all entries are sorted.
struct NaiveNameList {
    struct Entry: Equatable {
        let text: [UInt8]
        let isItem: Bool

        /// In the order of bytes; a prefix comes before the item of its name.
        static func isBefore(_ a: Entry, _ b: Entry) -> Bool {
            a.text == b.text ? !a.isItem && b.isItem : a.text.lexicographicallyPrecedes(b.text)
        }
    }

    /// All entries that a query asks for, on whatever page.
    static func entries(_ names: Set<[UInt8]>, _ query: NameQuery) -> [Entry] {
        var entries: [Entry] = []
        for name in names where name.starts(with: query.prefix) {
            if name.lexicographicallyPrecedes(query.start) { continue }
            if !query.end.isEmpty, !name.lexicographicallyPrecedes(query.end) { continue }
            let rest = Array(name[query.prefix.count...])
            guard let length = end(of: query.delimiter, in: rest) else {
                if query.style == .server || isAddressable(name) {
                    entries.append(Entry(text: name, isItem: true))
                }
                continue
            }
            let prefix = query.prefix + rest[..<length]
            let folder = Array(String(decoding: prefix, as: UTF8.self).utf8)
            if query.style == .client, folder.first == 0x2F || hasDoubleSlash(folder) { continue }
            entries.append(Entry(text: prefix, isItem: false))
            if query.includesTrailingDelimiter, prefix == name {
                entries.append(Entry(text: name, isItem: true))
            }
        }
        entries.sort(by: Entry.isBefore)
        return entries.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// Those behind the end of a page. What was shown as a prefix is over, with all that begins so.
    static func entries(
        _ names: Set<[UInt8]>,
        _ query: NameQuery,
        behind token: PageToken
    ) -> [Entry] {
        entries(names, query).filter { entry in
            switch token.kind {
            case .name: token.name.lexicographicallyPrecedes(entry.text)
            case .prefix:
                !entry.text.starts(with: token.name)
                    && token.name.lexicographicallyPrecedes(entry.text)
            case .prefixBeforeItem:
                Entry.isBefore(Entry(text: token.name, isItem: false), entry)
            }
        }
    }

    private static func end(of delimiter: [UInt8], in rest: [UInt8]) -> Int? {
        if delimiter.isEmpty { return nil }
        return rest.indices.first { rest[$0...].starts(with: delimiter) }.map {
            $0 + delimiter.count
        }
    }

    private static func hasDoubleSlash(_ name: [UInt8]) -> Bool {
        name.indices.dropFirst().contains { name[$0] == 0x2F && name[$0 - 1] == 0x2F }
    }

    private static func isAddressable(_ name: [UInt8]) -> Bool {
        name.first != 0x2F && name.last != 0x2F && !hasDoubleSlash(name)
    }
}

extension NameList {
    /// Items and prefixes as one list, in the order of bytes.
    var entries: [NaiveNameList.Entry] {
        (items.map { NaiveNameList.Entry(text: $0.utf8, isItem: true) }
            + prefixes.map { NaiveNameList.Entry(text: Array($0.utf8), isItem: false) })
            .sorted(by: NaiveNameList.Entry.isBefore)
    }
}
