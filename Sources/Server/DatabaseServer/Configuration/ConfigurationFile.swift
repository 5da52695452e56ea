import JSONTree

/// The settings file, `hearth.json`: one JSON object, with `//` and `/* */` comments.
///
///     {
///         // The party's own server.
///         "port": 9000,
///         "allow-origin": ["https://party.example.com"],
///         "database": {"party": "rules/party.json"}
///     }
///
/// Texts, numbers and booleans may stand where the command line takes a text; a list where a flag may be
/// repeated; an object stands for a list of `NAME=VALUE`, with null for a NAME alone.
enum ConfigurationFile {
    /// The file read when no other is named, if it is there.
    static let standardPath = "hearth.json"

    /// The environment variable that names another.
    static let variable = "HEARTH_CONFIG"

    /// Bytes in the file.
    static let byteLimit = 1024 * 1024

    /// The layer of a file's text; `path` is the file's name, for the faults.
    ///
    /// - Throws: Every fault of its members; the first one alone where the text is not JSON.
    static func layer(_ text: [UInt8], path: String) throws(ConfigurationFaults) -> SettingLayer {
        guard text.count <= byteLimit else {
            throw ConfigurationFaults([
                ConfigurationFault(path, "has more than \(byteLimit) bytes", "Name another file.")
            ])
        }
        let json = blankingComments(text)
        let read = json.withBytes { bytes in
            var reader = ConfigurationFileReader(bytes, path: path)
            return reader.read()
        }
        guard read.faults.isEmpty else { throw ConfigurationFaults(read.faults) }
        return read.layer
    }

    /// The same text with spaces for comments, so that positions stay what they were.
    static func blankingComments(_ text: [UInt8]) -> [UInt8] {
        enum State { case outside, text, escape, line, block }
        var result = text
        var state = State.outside
        var index = 0
        while index < text.count {
            let byte = text[index]
            let next = index + 1 < text.count ? text[index + 1] : 0
            switch (state, byte) {
            case (.outside, UInt8(ascii: "\"")): state = .text
            case (.outside, UInt8(ascii: "/")) where next == UInt8(ascii: "/"):
                state = .line
                result[index] = UInt8(ascii: " ")
            case (.outside, UInt8(ascii: "/")) where next == UInt8(ascii: "*"):
                state = .block
                result[index] = UInt8(ascii: " ")
                result[index + 1] = UInt8(ascii: " ")
                index += 1
            case (.text, UInt8(ascii: "\\")): state = .escape
            case (.text, UInt8(ascii: "\"")): state = .outside
            case (.escape, _): state = .text
            case (.line, UInt8(ascii: "\n")): state = .outside
            case (.block, UInt8(ascii: "*")) where next == UInt8(ascii: "/"):
                state = .outside
                result[index] = UInt8(ascii: " ")
                result[index + 1] = UInt8(ascii: " ")
                index += 1
            case (.line, _), (.block, _):
                if byte != UInt8(ascii: "\n") { result[index] = UInt8(ascii: " ") }
            default: break
            }
            index += 1
        }
        return result
    }
}

/// One reading of a settings file.
private struct ConfigurationFileReader {
    private let bytes: Bytes
    private let path: String
    private var scanner: JSONScanner
    private var layer: SettingLayer = [:]
    private var faults: [ConfigurationFault] = []

    /// Borrows `bytes` from the caller for as long as the reader lives.
    init(_ bytes: Bytes, path: String) {
        self.bytes = bytes
        self.path = path
        self.scanner = JSONScanner(bytes)
    }

    mutating func read() -> (layer: SettingLayer, faults: [ConfigurationFault]) {
        do throws(JSONError) {
            try scanner.enterObject()
            while let name = try scanner.nextMember() {
                try readMember(name)
            }
            try scanner.expectEnd()
        } catch {
            let (line, column) = error.lineAndColumn(in: bytes)
            faults = [
                ConfigurationFault(
                    "\(path):\(line):\(column)",
                    "is not JSON here (\(error.reason))",
                    "Write one JSON object; comments may stand anywhere between its parts.",
                )
            ]
        }
        return (layer, faults)
    }

    private mutating func readMember(_ name: String) throws(JSONError) {
        _ = try scanner.peek()
        let (line, column) = JSONError(.unexpectedEnd, offset: scanner.offset)
            .lineAndColumn(in: bytes)
        let origin = SettingOrigin.file(path: path, line: line, column: column)
        guard let setting = Setting(rawValue: name) else {
            _ = try scanner.skipValue()
            let advice = Setting.nearest(to: name).map { "Did you mean \"\($0.rawValue)\"?" }
            return fault(
                origin,
                "there is no setting \"\(name)\"",
                advice
                    ?? "The settings are the flags of hearth serve --help, without dashes before."
            )
        }
        guard let texts = try readTexts(of: setting) else {
            return fault(origin, "\"\(name)\" cannot have such a value", expectation(of: setting))
        }
        guard layer[setting] == nil else {
            return fault(origin, "\"\(name)\" is set twice", "Leave one of them out.")
        }
        layer[setting] = SettingValue(texts, from: origin)
    }

    private mutating func fault(_ origin: SettingOrigin, _ problem: String, _ advice: String) {
        faults.append(ConfigurationFault(origin, problem, advice))
    }

    private func expectation(of setting: Setting) -> String {
        switch setting.kind {
        case .text: "Write a text or a number."
        case .toggle: "Write true or false."
        case .list: "Write a list of texts, or an object of names and values."
        }
    }

    /// The value as texts; nil for one of the wrong kind, which is passed over.
    private mutating func readTexts(of setting: Setting) throws(JSONError) -> [String]? {
        switch (try scanner.peek(), setting.kind) {
        case (UInt8(ascii: "["), .list): return try readList()
        case (UInt8(ascii: "{"), .list): return try readPairs()
        case (UInt8(ascii: "t"), .toggle), (UInt8(ascii: "f"), .toggle):
            return [String(try scanner.readBoolean())]
        case (_, .toggle):
            _ = try scanner.skipValue()
            return nil
        default:
            return try readScalar().map { [$0] }
        }
    }

    private mutating func readList() throws(JSONError) -> [String]? {
        var texts: [String?] = []
        try scanner.enterArray()
        while try scanner.nextElement() {
            texts.append(try readScalar())
        }
        return texts.contains(nil) ? nil : texts.compactMap(\.self)
    }

    private mutating func readPairs() throws(JSONError) -> [String]? {
        var texts: [String?] = []
        try scanner.enterObject()
        while let name = try scanner.nextMember() {
            if try scanner.peek() == UInt8(ascii: "n") {
                try scanner.readNull()
                texts.append(name)
            } else {
                texts.append(try readScalar().map { "\(name)=\($0)" })
            }
        }
        return texts.contains(nil) ? nil : texts.compactMap(\.self)
    }

    /// A text, or the digits of a number; nil for anything else, which is passed over.
    private mutating func readScalar() throws(JSONError) -> String? {
        if try scanner.peek() == UInt8(ascii: "\"") { return try scanner.readString() }
        let range = try scanner.skipValue()
        let text = bytes.slice(range).string
        return Int64(text).map { String($0) }
    }
}
