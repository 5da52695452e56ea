import Testing

@testable import Commands

@Suite("files of accounts")
struct UserFileTests {
    /// Reads a text in parts of `size` bytes.
    private static func objects(_ text: String, size: Int) throws -> [UserObjects.Item] {
        var objects = UserObjects()
        var items: [UserObjects.Item] = []
        for part in parts(text, size: size) {
            items += try part.withUnsafeBytes { bytes in try objects.read(bytes) }
        }
        try objects.finish()
        return items
    }

    private static func rows(_ text: String, size: Int) throws -> [UserRows.Row] {
        var rows = UserRows()
        var all: [UserRows.Row] = []
        for part in parts(text, size: size) {
            all += try part.withUnsafeBytes { bytes in try rows.read(bytes) }
        }
        return all + (try rows.finish())
    }

    private static func parts(_ text: String, size: Int) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: size).map {
            Array(bytes[$0..<min($0 + size, bytes.count)])
        }
    }

    @Test("give the same accounts wherever they are cut", arguments: [1, 2, 3, 7, 4096])
    func objectsInParts(size: Int) throws {
        let text = """
            {"kind": "users", "before": {"users": [{"localId": "not me"}]}, "list": ["users"],
             "users": [
              {"localId": "a\\"}]", "list": [1, [2]], "in": {"deep": {}}},
              {}, {"localId": "é"}
             ], "after": [{"localId": "nor me"}]}

            """
        let items = try Self.objects(text, size: size)
        #expect(items.map(\.index) == [0, 1, 2])
        #expect(items.map(\.line) == [3, 4, 4])
        let texts = items.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(
            texts == [
                #"{"localId": "a\"}]", "list": [1, [2]], "in": {"deep": {}}}"#, "{}",
                #"{"localId": "é"}"#,
            ]
        )
    }

    @Test(
        "may be a list alone, or have no accounts",
        arguments: [("[{},{}]", 2), ("[]", 0), (#"{"users":[]}"#, 0), (" \n[ {} ] \n", 1)]
    )
    func lists(text: String, count: Int) throws {
        #expect(try Self.objects(text, size: 3).count == count)
    }

    @Test(
        "of another form are refused with the line",
        arguments: [
            ("", 1), ("{\n", 2), ("hello", 1), (#""users""#, 1), ("]", 1), ("{}\n{", 2),
            (#"{"users":\#n[1]}"#, 2), (#"{"users":["a"]}"#, 1), (#"{"users":[[]]}"#, 1),
            ("{}", 1), (#"{"users":{}}"#, 1), (#"{"users":[{"a":"#, 1), (#"{"users":["#, 1),
        ]
    )
    func refusals(text: String, line: Int) {
        let error = #expect(throws: UserFileError.self) { try Self.objects(text, size: 2) }
        #expect(error?.text.hasPrefix("line \(line): ") == true, "\(String(describing: error))")
    }

    @Test("hold accounts of a bounded size")
    func size() {
        let text = #"[{"a":""# + String(repeating: "x", count: UserFileLimits.recordByteCount)
        #expect(throws: UserFileError.tooLong(line: 1)) {
            try Self.objects(text, size: 4096)
        }
        let row = String(repeating: "x", count: UserFileLimits.recordByteCount + 1)
        #expect(throws: UserFileError.tooLong(line: 1)) { try Self.rows(row, size: 4096) }
    }

    @Test("give the same rows wherever they are cut", arguments: [1, 2, 3, 7, 4096])
    func rowsInParts(size: Int) throws {
        let text = "a,\"b,\"\"c\"\"\",\r\n\n\"two\nlines\",é\n,,\nlast"
        let rows = try Self.rows(text, size: size)
        #expect(
            rows == [
                .init(line: 1, cells: ["a", "b,\"c\"", ""]),
                .init(line: 3, cells: ["two\nlines", "é"]),
                .init(line: 6, cells: ["last"]),
            ]
        )
    }

    @Test(
        "have quotes around whole cells only",
        arguments: ["a\"b\n", "\"a\"b\n", "x\n\"never closed\n"]
    )
    func quotes(text: String) {
        #expect(throws: UserFileError.self) { try Self.rows(text, size: 2) }
    }
}
