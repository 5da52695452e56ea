import FileProtocol
import TestSupport
import Testing

/// What a body of metadata and bytes has, read from the whole of it by looking for texts.
struct NaiveMultipart: Equatable {
    var metadata: [UInt8] = []
    var type = ""
    var content: [UInt8] = []

    /// Nil for a body that is refused.
    init?(_ body: [UInt8], boundary: String) {
        let text = [0x0D, 0x0A] + body
        let delimiter = Array("\r\n--\(boundary)".utf8)
        var rest = text[...]
        var parts: [ArraySlice<UInt8>] = []
        guard let first = Self.find(delimiter, rest) else { return nil }
        rest = rest[(first + delimiter.count)...]
        while !rest.starts(with: "--".utf8) {
            guard let lineEnd = Self.find([0x0D, 0x0A], rest),
                rest[..<lineEnd].allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D })
            else { return nil }
            let part = rest[(lineEnd + 2)...]
            guard
                let bodyStart = part.starts(with: [0x0D, 0x0A])
                    ? part.startIndex + 2
                    : Self.find([0x0D, 0x0A, 0x0D, 0x0A], part).map({ $0 + 4 }),
                let end = Self.find(delimiter, part[bodyStart...])
            else { return nil }
            let headers = String(decoding: part[..<bodyStart], as: UTF8.self).split(
                separator: "\r\n"
            )
            guard let header = headers.first(where: { $0.lowercased().hasPrefix("content-type:") }),
                !header.dropFirst(13).allSatisfy({ $0 == " " })
            else { return nil }
            if parts.count == 1 { type = String(header.dropFirst(13).drop { $0 == " " }) }
            parts.append(part[bodyStart..<end])
            guard parts.count <= 2 else { return nil }
            rest = text[(end + delimiter.count)...]
        }
        guard parts.count == 2 else { return nil }
        metadata = Array(parts[0])
        content = Array(parts[1])
    }

    private static func find(_ text: [UInt8], _ bytes: ArraySlice<UInt8>) -> Int? {
        if bytes.count < text.count { return nil }
        return (bytes.startIndex...(bytes.endIndex - text.count)).first {
            bytes[$0...].starts(with: text)
        }
    }

    /// What the reader makes of a body that comes in parts of these sizes.
    init(_ body: [UInt8], boundary: String, cuts: [Int]) throws(FileFault) {
        var reader = MultipartReader(boundary: Array(boundary.utf8))
        var ended = false
        var start = 0
        for end in cuts + [body.count] {
            let fed = Array(body[start..<end])
            start = end
            for event in try reader.feed(fed) {
                switch event {
                case .metadata(let bytes): metadata = bytes
                case .content(let type): self.type = type
                case .bytes(let range): content += fed[range]
                case .keptBytes(let bytes): content += bytes
                case .end: ended = true
                }
            }
        }
        try reader.finish()
        guard ended else { throw FileFault(500, "no end") }
    }
}

@Suite("multipart uploads")
struct MultipartTests {
    private static let hello = """
        --91\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{"contentType":"text/plain"}\r\n\
        --91\r\nContent-Type: text/plain\r\n\r\nhe\r\n--9llo\r\r\n\r\n--91--
        """

    @Test("are read alike at every cut in three")
    func cuts() throws {
        let body = Array(Self.hello.utf8)
        let wanted = try #require(NaiveMultipart(body, boundary: "91"))
        #expect(wanted.content == Array("he\r\n--9llo\r\r\n".utf8) && wanted.type == "text/plain")
        for first in 0...body.count {
            for second in first...body.count {
                #expect(try NaiveMultipart(body, boundary: "91", cuts: [first, second]) == wanted)
            }
        }
        #expect(try NaiveMultipart(body, boundary: "91", cuts: Array(1..<body.count)) == wanted)
    }

    @Test(
        "in any bytes, with boundaries that nearly are, are what a search finds",
        arguments: TestSeed.seeds(4)
    )
    func twin(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Boundaries that fall back to parts of themselves.
        let boundaries = ["X", "91", "--", "aa", "a-a-ab", "=_\r"]
        var (takenCount, refusedCount, keptCount) = (0, 0, 0)
        for _ in 0..<3_000 {
            let boundary = boundaries[random.index(5)]
            let mark = "\r\n--\(boundary)"
            func junk(_ count: Int) -> String {
                (0..<random.index(count)).map { _ in
                    switch random.index(9) {
                    case 0: return "\r"
                    case 1: return "\n"
                    case 2: return "-"
                    case 3: return "\r\n--"
                    case 4: return String(mark.prefix(random.index(mark.count + 1)))
                    case 5: return String(boundary.prefix(1))
                    default: return "a"
                    }
                }.joined()
            }
            let ends = ["\r\n", "\r\n", "\r\n", " \t\r\n", "--", "x\r\n"]
            let heads = [
                "content-type: a/b\r\n\r\n", "X-Y: z\r\nCONTENT-TYPE:c/d\r\n\r\n", "X: y\r\n\r\n",
                "\r\n",
            ]
            let partCount = [2, 2, 2, 2, 1, 3][random.index(6)]
            var text = random.index(4) == 0 ? junk(6) + "\r\n" : ""
            for _ in 0..<partCount {
                text += "--\(boundary)" + ends[random.index(random.index(6) == 0 ? 6 : 3)]
                text += heads[random.index(random.index(5) == 0 ? 4 : 2)] + junk(12) + "\r\n"
            }
            text +=
                "--\(boundary)"
                + ["--", "--", "--", "--\r\nepilogue\r\n--X", "", "-"][random.index(6)]
            let body = Array(text.utf8)
            let cuts = (0..<random.index(6)).map { _ in random.index(body.count + 1) }.sorted()
            let wanted = NaiveMultipart(body, boundary: boundary)
            do throws(FileFault) {
                let read = try NaiveMultipart(body, boundary: boundary, cuts: cuts)
                #expect(
                    read == wanted,
                    "seed \(seed): \(text.debugDescription) \(boundary) \(cuts)"
                )
                takenCount += 1
                if wanted?.content.contains(0x0D) == true { keptCount += 1 }
            } catch {
                #expect(error.status == 400)
                #expect(
                    wanted == nil,
                    "seed \(seed): \(text.debugDescription) \(boundary): \(error.message)"
                )
                refusedCount += 1
            }
        }
        #expect(takenCount > 500 && refusedCount > 500 && keptCount > 100)
    }

    @Test(
        "that are malformed are refused in the words of the emulator",
        arguments: [
            ("", "Unexpected number of parts in request body"),
            ("--91--", "Unexpected number of parts in request body"),
            (
                "--91\r\nContent-Type: a/b\r\n\r\n{}\r\n--91--",
                "Unexpected number of parts in request body"
            ),
            (
                "--91\r\nContent-Type: a/b\r\n\r\n{}\r\n--91\r\nContent-Type: a/b\r\n\r\nx\r\n--91\r\n",
                "Unexpected number of parts in request body"
            ),
            (
                "--91\r\nContent-Type: a/b\r\n\r\n{}\r\n--91\r\nContent-Type: a/b\r\n\r\nx",
                "Unexpected number of parts in request body"
            ),
            (
                "--91\r\n\r\n{}\r\n--91--",
                "Failed to parse multipart request body part. Missing content type."
            ),
            (
                "--91\r\nContent-Type: a/b\r\n\r\n{}\r\n--91\r\nX: y\r\n\r\nx\r\n--91--",
                "Failed to parse multipart request body part. Missing content type."
            ),
            ("--91x\r\n", "A boundary of the body must be followed by the end of the line."),
        ]
    )
    func refusals(body: String, message: String) {
        do throws(FileFault) {
            _ = try NaiveMultipart(Array(body.utf8), boundary: "91", cuts: [])
            Issue.record("\(body) was taken")
        } catch {
            #expect(error.message == message && error.status == 400)
            let isPlain = message.hasPrefix("Unexpected") || message.hasPrefix("Failed")
            #expect(FileAnswer(error, .client).text == message || !isPlain)
        }
    }

    @Test("have metadata of at most 64 KiB, and headers of 8 KiB")
    func limits() throws {
        func body(_ count: Int, head: Int = 1) -> [UInt8] {
            Array(
                ("--9\r\nContent-Type: a/b\r\nX: \(String(repeating: "y", count: head))\r\n\r\n"
                    + String(repeating: " ", count: count)
                    + "\r\n--9\r\nContent-Type: a/b\r\n\r\n\r\n--9--").utf8
            )
        }
        #expect(
            try NaiveMultipart(body(65_536), boundary: "9", cuts: [70, 9_000]).metadata.count
                == 65_536
        )
        #expect(throws: FileFault.self) {
            try NaiveMultipart(body(65_537), boundary: "9", cuts: [9_000])
        }
        #expect(try NaiveMultipart(body(1, head: 8_000), boundary: "9", cuts: []).type == "a/b")
        #expect(throws: FileFault.self) {
            try NaiveMultipart(body(1, head: 8_192), boundary: "9", cuts: [])
        }
    }

    @Test("hand out ranges of what was fed, and copy no more than a boundary of it")
    func copies() throws {
        var reader = MultipartReader(boundary: Array("abc".utf8))
        _ = try reader.feed(
            Array("--abc\r\nContent-Type: a/b\r\n\r\n{}\r\n--abc\r\nContent-Type: a/b\r\n\r\n".utf8)
        )
        let large = [UInt8](repeating: 0x0D, count: 1 << 20)
        #expect(try reader.feed(large) == [.bytes(0..<large.count - 1)])
        #expect(try reader.feed([0x0A, 0x2D]) == [])
        #expect(
            try reader.feed(Array("-abx".utf8)) == [.keptBytes(Array("\r\n-".utf8)), .bytes(0..<4)]
        )
        #expect(try reader.feed(Array("\r\n--abc--".utf8)) == [.end])
        try reader.finish()
    }
}

@Suite("batches")
struct BatchTests {
    private static let python = """
        --==b==\r\ncontent-type: application/http\r\nMIME-Version: 1.0\r\ncontent-id: <a+1>\r\n\r\n\
        DELETE /storage/v1/b/demo.appspot.com/o/a%2Fb?prettyPrint=false HTTP/1.1\r\naccept: */*\r\n\r\n\r\n\
        --==b==\r\nContent-Type: application/http\r\n\r\n\
        PATCH /storage/v1/b/demo.appspot.com/o/c HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{"contentType":"x/y"}\r\n\
        --==b==--
        """

    @Test("of the Python library are taken apart and answered part by part")
    func python() throws {
        let parts = try FileBatch.parts(Array(Self.python.utf8), boundary: Array("==b==".utf8))
        #expect(parts.map(\.contentID) == ["<a+1>", nil])
        #expect(
            try parts.map { try FileRequest($0.head).text } == [
                "delete demo.appspot.com|a/b", "patch demo.appspot.com|c",
            ]
        )
        #expect(parts[1].head.header("content-type") == "application/json")
        #expect(
            parts.map { String(decoding: $0.body, as: UTF8.self) } == [
                "", #"{"contentType":"x/y"}"#,
            ]
        )
        let answer = FileBatch.answer(
            [("<a+1>", FileAnswer(204)), (nil, FileAnswer(.notFound, .server))],
            boundary: "r"
        )
        #expect(answer.header("content-type") == "multipart/mixed; boundary=r")
        #expect(
            answer.text.hasPrefix(
                "--r\r\nContent-Type: application/http\r\nContent-ID: <response-a+1>\r\n\r\nHTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n\r\n--r\r\n"
            )
        )
        #expect(
            answer.text.contains("HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n")
        )
        #expect(answer.text.hasSuffix("\r\n--r--\r\n"))
    }

    @Test("of 100 requests are taken, of 101 refused")
    func count() throws {
        func batch(_ count: Int) -> [UInt8] {
            Array(
                (String(repeating: "--b\r\n\r\nGET /b HTTP/1.1\r\n\r\n\r\n", count: count) + "--b--")
                    .utf8
            )
        }
        #expect(try FileBatch.parts(batch(100), boundary: [0x62]).count == 100)
        #expect(throws: FileFault.self) { try FileBatch.parts(batch(101), boundary: [0x62]) }
    }

    @Test("that are cut anywhere are refused")
    func cuts() {
        let body = Array(Self.python.utf8)
        for end in 0..<body.count {
            #expect(throws: FileFault.self) {
                try FileBatch.parts(Array(body[..<end]), boundary: Array("==b==".utf8))
            }
        }
    }

    @Test(
        "have requests with a line of their own",
        arguments: [
            "GET /b", "GET b HTTP/1.1", "GET http://x HTTP/1.1", "/b HTTP/1.1", "GET /b HTTP/2",
            "GET /b?%zz HTTP/1.1",
        ]
    )
    func lines(line: String) {
        let body = Array("--b\r\n\r\n\(line)\r\n\r\n\r\n--b--".utf8)
        #expect(throws: FileFault.self) { try FileBatch.parts(body, boundary: [0x62]) }
    }

    @Test("may name the server, and end their lines as the Python library does")
    func pythonLines() throws {
        let text = "--b\n\nDELETE http://h:1/b/c/o/d HTTP/1.1\nA: e\n\n{}\n--b--"
        let parts = try FileBatch.parts(Array(text.utf8), boundary: [0x62])
        #expect(parts.map(\.head.rawPath) == ["/b/c/o/d"])
        #expect(parts[0].head.header("a") == "e")
        #expect(parts[0].body == Array("{}".utf8))
    }
}
