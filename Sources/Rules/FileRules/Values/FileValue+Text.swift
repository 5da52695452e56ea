import JSONTree

extension FileValue {
    /// The value as rules would write it, for people: `"ann"`, `[1, 2.5]`, `{"a": null}`, `/b/x`, `2026-01-31T…Z`.
    ///
    /// At most `FileRulesLimits.shownCharacterCount` characters and an ellipsis.
    package var shown: String {
        var writer = ValueWriter()
        writer.write(self)
        return writer.text
    }
}

/// Writes a value until the text is long enough.
private struct ValueWriter {
    private(set) var text = ""
    private var left = FileRulesLimits.shownCharacterCount
    private var isCut = false

    /// Recursion is bounded by the room: each level takes a character.
    mutating func write(_ value: FileValue) {
        switch value {
        case .null: add("null")
        case .bool(let value): add("\(value)")
        case .int(let value): add("\(value)")
        case .float(let value): add(value.isNaN ? "nan" : "\(value)")
        case .string(let bytes): addQuoted(bytes)
        case .bytes(let bytes):
            add("bytes " + Hexadecimal.encode(Array(bytes.prefix(left))))
        case .list(let list): addElements("[", list.elements, "]")
        case .set(let set): addElements("set [", set.elements, "]")
        case .map(let map), .difference(let map): addMembers(map)
        case .path(let segments):
            if segments.isEmpty { add("/") }
            for segment in segments.prefix(left) {
                add("/" + String(decoding: segment.prefix(left), as: UTF8.self))
            }
        case .timestamp(let time): add(ISO8601.text(of: time.milliseconds))
        case .duration(let time): add(time.durationText)
        case .latlng(let latitude, let longitude): add("latlng(\(latitude), \(longitude))")
        }
    }

    private mutating func add(_ piece: String) {
        if isCut { return }
        let scalars = piece.unicodeScalars
        let shown = scalars.prefix(left)
        text.unicodeScalars.append(contentsOf: shown)
        left -= shown.count
        if shown.endIndex != scalars.endIndex {
            text += "…"
            isCut = true
        }
    }

    private mutating func addQuoted(_ bytes: [UInt8]) {
        var out: [UInt8] = []
        appendJSONString(String(decoding: bytes.prefix(4 * left), as: UTF8.self), to: &out)
        add(String(decoding: out, as: UTF8.self))
    }

    private mutating func addElements(_ head: String, _ elements: [FileValue], _ tail: String) {
        add(head)
        for (index, element) in elements.enumerated() where !isCut {
            if index > 0 { add(", ") }
            write(element)
        }
        add(tail)
    }

    private mutating func addMembers(_ map: FileMap) {
        add("{")
        for (index, key) in map.keys.enumerated() where !isCut {
            if index > 0 { add(", ") }
            addQuoted(key)
            add(": ")
            write(map.values[index])
        }
        add("}")
    }
}
