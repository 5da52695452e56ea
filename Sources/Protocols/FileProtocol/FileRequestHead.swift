import JSONTree

/// The line and the headers of one request, as the file protocols read them.
package struct FileRequestHead: Sendable {
    /// The method as sent.
    package let method: String
    /// The path as sent: nothing decoded.
    package let rawPath: String
    /// The parameters of the query in the order sent, decoded: `+` is a space.
    package let parameters: [(name: String, value: String)]
    /// In the order sent.
    package let headers: [(name: String, value: String)]

    /// Reads the target of a request.
    ///
    /// - Throws: `FileFault` (400) for an escape that is none, and for bytes that are not UTF-8.
    package init(
        method: String,
        target: String,
        headers: [(name: String, value: String)]
    ) throws(FileFault) {
        self.method = method
        self.headers = headers
        // By bytes: characters take far longer to find.
        let target = target[...]
        let (path, query) = Self.cut(target, at: UInt8(ascii: "?"))
        rawPath = String(path)
        var parameters: [(name: String, value: String)] = []
        for pair in Self.pieces(query ?? "", between: UInt8(ascii: "&")) where !pair.isEmpty {
            let (name, value) = Self.cut(pair, at: UInt8(ascii: "="))
            parameters.append(
                (
                    name: try Self.decode(name, isForm: true),
                    value: try Self.decode(value ?? "", isForm: true)
                )
            )
        }
        self.parameters = parameters
    }

    /// What stands before the first such byte, and behind it; nil where there is none.
    private static func cut(_ text: Substring, at byte: UInt8) -> (Substring, Substring?) {
        guard let mark = text.utf8.firstIndex(of: byte) else { return (text, nil) }
        return (text[..<mark], text[text.utf8.index(after: mark)...])
    }

    /// The pieces of a text between such bytes, empty ones among them.
    private static func pieces(_ text: Substring, between byte: UInt8) -> [Substring] {
        var pieces: [Substring] = []
        var rest: Substring? = text
        while let text = rest {
            let (piece, more) = cut(text, at: byte)
            pieces.append(piece)
            rest = more
        }
        return pieces
    }

    /// The pieces of the path between slashes, as sent; one empty piece at the end is left out.
    package var segments: [Substring] {
        var segments = Self.pieces(rawPath[...], between: UInt8(ascii: "/"))
        if segments.first?.isEmpty == true { segments.removeFirst() }
        if segments.count > 1, segments.last?.isEmpty == true { segments.removeLast() }
        return segments
    }

    /// The first header of this name, in any case of its characters.
    package func header(_ name: String) -> String? {
        headers.first { Self.isEqual($0.name, name) }?.value
    }

    /// The first parameter of this name.
    package func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// Whether a parameter is true; the Python library writes `True`.
    func flag(_ name: String) -> Bool { parameter(name)?.lowercased() == "true" }

    /// A parameter that is a whole number of 64 bits.
    package func integer(_ name: String) throws(FileFault) -> Int64? {
        guard let text = parameter(name) else { return nil }
        guard let number = Int64(text) else {
            throw FileFault(400, "'\(name)' must be a whole number of 64 bits.")
        }
        return number
    }

    /// Whether two names of headers are the same one.
    package static func isEqual(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count
            && zip(a.utf8, b.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }

    /// Puts the bytes of escapes back, once.
    ///
    /// - Throws: `FileFault` (400) for a `%` without two digits, and for bytes that are not UTF-8.
    package static func decode(
        _ text: Substring,
        isForm: Bool
    ) throws(FileFault) -> String {
        let isPlain = text.utf8.allSatisfy {
            $0 != UInt8(ascii: "%") && (!isForm || $0 != UInt8(ascii: "+"))
        }
        if isPlain { return String(text) }
        var out: [UInt8] = []
        out.reserveCapacity(text.utf8.count)
        var rest = text.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(digit),
                    let low = rest.popFirst().flatMap(digit)
                else {
                    throw FileFault(400, "The address has a '%' without two hexadecimal digits.")
                }
                out.append(high << 4 | low)
            } else {
                out.append(isForm && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        guard let text = String(validating: out, as: UTF8.self) else {
            throw FileFault(400, "The address must be UTF-8.")
        }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
