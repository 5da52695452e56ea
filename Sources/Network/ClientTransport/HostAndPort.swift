/// A host and port as written in a URL.
struct HostAndPort: Equatable {
    /// Without brackets.
    let name: String
    let port: Int

    /// Splits `localhost:9000`, `[::1]:9000` or `db.example.org`; nil for any other form.
    init?(_ text: String, defaultPort: Int) {
        let (name, rest): (Substring, Substring)
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else {
            let end = text.firstIndex(of: ":") ?? text.endIndex
            name = text[..<end]
            rest = text[end...]
        }
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
        self.name = String(name)
        guard !rest.isEmpty else {
            port = defaultPort
            return
        }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.allSatisfy({ $0.isASCII && $0.isNumber }),
            let port = Int(digits), (1...65535).contains(port)
        else { return nil }
        self.port = port
    }
}
