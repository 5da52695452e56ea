import Glibc
import HTTPClient
import JSONTree
import TestSupport
import Testing

@testable import Commands

@Suite("a part of an import")
struct ImportPartTests {
    @Test(
        "writes one piece",
        arguments: [
            (#"[1]"#, 99, ["put  [1] /"]),
            (#"{"a":1}"#, 99, [#"put  {"a":1} /"#]),
            (
                #"{"a":{"x":1,"yyyyy":2}}"#, 7,
                [
                    #"patch a {"x":1} /a/x"#, #"patch a {"yyyyy":2} /a/yyyyy"#,
                ]
            ),
            (
                #"{"a":{"xxxxxxx":1,".priority":2}}"#, 8,
                [
                    #"patch a {"xxxxxxx":1} /a/xxxxxxx"#, #"patch a {".priority":2} /a/.priority"#,
                ]
            ),
            (
                #"{"a":{".value":"1234567",".priority":2}}"#, 8,
                [
                    #"put a {".value":"1234567",".priority":2} /a"#
                ]
            ),
        ]
    )
    func pieces(text: String, byteCount: Int, expected: [String]) throws {
        let found = try FilteredPiecesTests.pieces(text, byteCount: byteCount).map { piece in
            let part = try ImportPart(piece)
            #expect(part.endOffset == piece.endOffset && part.mustFollow == piece.mustFollow)
            return Self.line(part)
        }
        #expect(found == expected)
    }

    /// `patch a/b {"c":1} /a/b/c`.
    static func line(_ part: ImportPart) -> String {
        "\(part.method) \(part.path.joined(separator: "/")) \(String(decoding: part.body, as: UTF8.self))"
            + " " + DatabasePath(keys: part.firstPath).description
    }
}

@Suite("values that are merged")
struct MergePartTests {
    /// The parts that a text becomes.
    private static func parts(_ text: String, byteLimit: Int = 1000) throws -> [ImportPart] {
        var parts: [ImportPart] = []
        var merged = MergePart(byteLimit: byteLimit)
        for piece in try FilteredPiecesTests.pieces(text, byteCount: 1) {
            for entry in try MergePart.entries(piece) {
                if !merged.takes(entry) {
                    parts.append(try #require(merged.part))
                    merged = MergePart(byteLimit: byteLimit)
                }
                merged.append(entry)
            }
        }
        return parts + [merged.part].compactMap { $0 }
    }

    @Test(
        "are an update at the longest path above all of them",
        arguments: [
            (#"{"a":1}"#, #"patch  {"a":1} /a"#),
            (#"{"a":{"b":1}}"#, #"patch a {"b":1} /a/b"#),
            (#"{"a":{"b":{"c":1},"d":2}}"#, #"patch a {"b/c":1,"d":2} /a/b/c"#),
            (#"{"a":{"b":1},"c":{"d":[2]}}"#, #"patch  {"a/b":1,"c/d/0":2} /a/b"#),
            (#"{"a":{"b":{"c":1,".priority":2}}}"#, #"patch a/b {"c":1,".priority":2} /a/b/c"#),
            (#"{"x\"y":{"z":1},"k":2}"#, #"patch  {"x\"y/z":1,"k":2} /x"y/z"#),
            (#"{"é":{"z":1},"e\u0301":{"z":2}}"#, "patch  {\"é/z\":1,\"e\u{301}/z\":2} /é/z"),
            ("17", "put  17 /"),
        ]
    )
    func update(text: String, expected: String) throws {
        #expect(try Self.parts(text).map(ImportPartTests.line) == [expected])
    }

    @Test("are leaves, server values and leaves with priorities; nothing takes data away")
    func leaves() throws {
        let text = #"""
            {"t":{".sv":"timestamp"},"n":null,"e":{},"l":[null,[]],"p":{".value":1,".priority":2},"f":false}
            """#
        #expect(
            try Self.parts(text).map(ImportPartTests.line) == [
                #"patch  {"t":{".sv":"timestamp"},"p":{".value":1,".priority":2},"f":false} /t"#
            ]
        )
        for nothing in ["null", "{}", "[null]"] { #expect(try Self.parts(nothing).isEmpty) }
    }

    @Test("are in one part unless one lies in another")
    func repeated() throws {
        let unsorted = try Self.parts(#"{"k2":1,"k10":2,"k1":{"a":3}}"#)
        #expect(unsorted.map(ImportPartTests.line) == [#"patch  {"k2":1,"k10":2,"k1/a":3} /k2"#])
        for (text, count) in [
            (#"{"a":1,"a":2}"#, 2), (#"{"a":1,"a":{"b":2}}"#, 2), (#"{"a":{"b":2},"a":1}"#, 2),
            (#"{"a":{"b":2},"a":{"c":1}}"#, 1), (#"{"a":{"b":1},"a":{"b":2},"a":{"b":3}}"#, 3),
        ] {
            let parts = try Self.parts(text)
            #expect(parts.count == count, "\(text)")
            #expect(parts.dropFirst().allSatisfy { $0.mustFollow }, "\(text)")
        }
    }

    @Test("end before they are too long, but never before a priority")
    func limits() throws {
        let text = #"{"a":{"b":12345678,"c":12345678,".priority":1}}"#
        #expect(try Self.parts(text, byteLimit: 40).count == 1)
        let two = try Self.parts(text, byteLimit: 20)
        #expect(two.count == 2)
        #expect(two.last?.body == Array(#"{"c":12345678,".priority":1}"#.utf8))
        let many = (0...DataLimits.pathsPerPart).map { #""k\#($0)":1"# }.joined(separator: ",")
        #expect(try Self.parts("{\(many)}", byteLimit: .max).count == 2)
    }
}

@Suite("the record of an import")
struct ImportRecordTests {
    private static let record = ImportRecord(
        target: "http://h:1/a of \"x\"",
        filter: "/b",
        merges: true,
        byteCount: 17,
        modified: 1_700_000_000_123_456_789
    )

    private static func withFile(_ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder()
        try body(try folder.file("record", ""))
    }

    @Test("comes back as it was kept")
    func keeping() throws {
        try Self.withFile { path in
            var record = Self.record
            record.confirmedOffset = 9
            try record.save(path)
            #expect(try ImportRecord.load(path) == record)
            record.confirmedOffset = 12
            try record.save(path)
            #expect(try ImportRecord.load(path) == record)
        }
        #expect(try ImportRecord.load("/tmp/no-such-record-of-hearth") == nil)
    }

    @Test(
        "that is invalid is refused",
        arguments: [
            "", "{}", "[]", #"{"version":2,"byteCount":1}"#,
            // No target; then a target that is no text.
            #"{"version":1,"filter":"","merges":true,"byteCount":1,"modified":1,"confirmedOffset":0}"#,
            #"{"version":1,"target":1,"filter":"","merges":true,"byteCount":1,"modified":1,"#
                + #""confirmedOffset":0}"#,
        ]
    )
    func bad(text: String) throws {
        try Self.withFile { path in
            try Descriptor.opened(path, O_WRONLY).write(Array(text.utf8))
            let error = #expect(throws: CommandError.self) { try ImportRecord.load(path) }
            #expect(error?.description.contains("remove it to start anew") ?? false)
        }
    }

    @Test("knows its import and its source")
    func comparing() {
        var later = Self.record
        later.confirmedOffset = 5
        #expect(Self.record.isSameImport(as: later))
        for change: (inout ImportRecord) -> Void in [
            { $0.target = "x" }, { $0.filter = "x" }, { $0.merges = false },
        ] {
            var other = Self.record
            change(&other)
            #expect(!Self.record.isSameImport(as: other))
            #expect(Self.record.isSameSource(as: other))
        }
        var touched = Self.record
        touched.modified += 1
        #expect(!Self.record.isSameSource(as: touched))
    }
}

@Suite("amounts")
struct AmountTests {
    @Test(
        "of bytes are read at a glance",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1549, "1.5 kB"), (999_949, "999.9 kB"),
            (999_999, "1.0 MB"), (298_504_902, "298.5 MB"), (2_000_000_000, "2.0 GB"),
            (5_000_000_000_000_000, "5000.0 TB"),
        ]
    )
    func bytes(count: Int, text: String) {
        #expect(Amounts.bytes(count) == text)
    }

    @Test(
        "of time are read at a glance",
        arguments: [
            (Duration.milliseconds(0), "0.0 s"), (.milliseconds(4240), "4.2 s"),
            (.milliseconds(59_940), "59.9 s"), (.milliseconds(59_960), "1 min 0 s"),
            (.seconds(185), "3 min 5 s"), (.seconds(7322), "2 h 2 min"),
        ]
    )
    func time(duration: Duration, text: String) {
        #expect(Amounts.time(duration) == text)
    }
}
