import JSONTree

/// Single JSON values as people type them.
enum JSONWord {
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
    static func isBare(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last else { return false }
        if " \t\r\n\"{[".utf8.contains(first) || " \t\r\n".utf8.contains(last) { return false }
        return reads(Array(text.utf8)) { (scanner) throws(JSONError) in _ = try scanner.skipValue()
        }
    }

    private static func reads(
        _ text: [UInt8],
        _ read: (inout JSONScanner) throws(JSONError) -> Void,
    ) -> Bool {
        do throws(JSONError) { try JSONScanner.whole(text, read) } catch { return false }
        return true
    }
}
