import JSONTree

/// Single JSON values as people type them.
enum JSONWord {
    /// `text` as a JSON string.
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        appendJSONString(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether `text` is a JSON string already, quotes included.
    static func isString(_ text: String) -> Bool {
        reads(Array(text.utf8)) { (scanner) throws(JSONError) in _ = try scanner.readString() }
    }

    /// Whether `text` is a JSON number, `true`, `false` or `null`.
    static func isBare(_ text: String) -> Bool { isBare(Array(text.utf8)) }

    /// Whether `text` is a JSON number, `true`, `false` or `null`.
    static func isBare(_ text: [UInt8]) -> Bool {
        guard let first = text.first, let last = text.last else { return false }
        if " \t\r\n\"{[".utf8.contains(first) || " \t\r\n".utf8.contains(last) { return false }
        return reads(text) { (scanner) throws(JSONError) in _ = try scanner.skipValue() }
    }

    /// The `error` member of a refusal's body; nil when it has none.
    static func errorText(_ body: [UInt8]) -> String? {
        body.withBytes { bytes in
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                try scanner.enterObject()
                while let name = try scanner.nextName() {
                    if name == "error" { return try scanner.readString() }
                    _ = try scanner.skipValue()
                }
                return nil
            } catch {
                return nil
            }
        }
    }

    private static func reads(
        _ text: [UInt8],
        _ read: (inout JSONScanner) throws(JSONError) -> Void,
    ) -> Bool {
        text.withBytes { bytes in
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                try read(&scanner)
                try scanner.expectEnd()
                return true
            } catch {
                return false
            }
        }
    }
}
