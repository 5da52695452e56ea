import JSONTree

extension RequestFields {
    /// Fields of texts, as a form or another request has them; of several with one name the last one counts.
    ///
    /// What no field of ours is named by is passed over.
    init(pairs: [(String, String)]) {
        var body = Node.absent
        for (name, text) in pairs where Self.isName(name) {
            body.set(Node(string: text), at: Path([Key(unchecked: Array(name.utf8))]))
        }
        self.init(body)
    }

    /// Reads the body of an HTML form, `name=value&...` (`application/x-www-form-urlencoded`).
    ///
    /// - Throws: `invalidPayload` for what is no UTF-8 text.
    package init(form: [UInt8]) throws(IdentityError) {
        var pairs: [(String, String)] = []
        for pair in form.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = Self.decoded(pair[..<equals]),
                let value = Self.decoded(pair[equals...].dropFirst())
            else { throw .invalidPayload("The form is no UTF-8 text.") }
            pairs.append((name, value))
        }
        self.init(pairs: pairs)
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (97...122).contains(byte) || (65...90).contains(byte)
                    || byte == UInt8(ascii: "_")
            }
    }

    /// `+` is a space, `%XX` a byte; a `%` without two digits is itself.
    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        String(validating: PercentCoding.decodeLoosely(text, isForm: true), as: UTF8.self)
    }
}
