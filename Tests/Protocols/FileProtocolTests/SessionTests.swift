import FileProtocol
import FileRecords
import FileSamples
import JSONTree
import TestSupport
import Testing

/// A resumable upload that keeps its bytes, and the plainest reading of what each request does.
private struct NaiveUpload {
    let isClient: Bool
    let limit: Int
    var total: Int?
    var bytes: [UInt8] = []
    var state = "active"
    var finalStatus = 0

    enum Outcome: Equatable {
        /// Status and, for clients, the state that a header says.
        case answer(Int, String?)
        case commit
    }

    private var refused: Outcome { .answer(400, isClient ? "active" : nil) }

    private var progress: Outcome { isClient ? .answer(200, "active") : .answer(308, nil) }

    private mutating func end(_ status: Int) -> Outcome {
        (state, finalStatus) = ("final", status)
        return .answer(status, isClient ? "final" : nil)
    }

    private func finishing() -> Outcome {
        if let total, bytes.count < total { return refused }
        return .commit
    }

    mutating func handle(_ step: UploadStep, body: [UInt8], isWhole: Bool) -> Outcome {
        if state == "cancelled" {
            if !isClient { return .answer(499, nil) }
            if step == .cancel || step == .query(total: nil) { return .answer(200, state) }
            return .answer(400, state)
        }
        if state == "final" {
            var isRefused = step == .cancel
            if case .bytes(let chunk) = step, isClient, !chunk.isLast { isRefused = true }
            return .answer(isRefused ? 400 : finalStatus, isClient ? state : nil)
        }
        switch step {
        case .cancel:
            state = "cancelled"
            return isClient ? .answer(200, state) : .answer(499, nil)
        case .finish: return finishing()
        case .query(let asked):
            if isClient { return progress }
            if let outcome = learn(asked) { return outcome }
            return total == bytes.count ? .commit : progress
        case .bytes(let chunk):
            let offset = chunk.offset.map { Int($0) } ?? bytes.count
            if offset > bytes.count { return refused }
            if let outcome = learn(chunk.total) { return outcome }
            if let count = chunk.byteCount.map({ Int($0) }) {
                if let total, offset + count > total { return end(400) }
                if offset + count > limit { return end(413) }
            }
            return store(body, at: offset, chunk, isWhole)
        }
    }

    private mutating func learn(_ asked: Int64?) -> Outcome? {
        guard let asked = asked.map({ Int($0) }) else { return nil }
        if total != nil && total != asked || asked < bytes.count { return refused }
        if asked > limit { return .answer(413, isClient ? "active" : nil) }
        total = asked
        return nil
    }

    private mutating func store(
        _ body: [UInt8],
        at offset: Int,
        _ chunk: UploadStep.Chunk,
        _ isWhole: Bool
    ) -> Outcome {
        let before = bytes.count
        if let count = chunk.byteCount, body.count > count { return end(400) }
        let all = Array(bytes[..<offset]) + body
        let reached = max(before, all.count)
        if let total, all.count > total, all.count > before { return end(400) }
        if all.count > limit, all.count > before { return end(413) }
        if all.count > before { bytes += all[before...] }
        if !isWhole {
            let kept = max(before, reached - reached % 262_144)
            bytes = Array(bytes[..<kept])
            return progress
        }
        if chunk.isLast, chunk.byteCount == nil || chunk.byteCount == Int64(body.count) {
            return finishing()
        }
        return progress
    }
}

private func answer(of action: UploadAction) throws -> FileAnswer {
    guard case .answer(let answer) = action else { throw FileFault(500, "no answer") }
    return answer
}

private func transfer(of action: UploadAction) throws -> UploadTransfer {
    guard case .receive(let transfer) = action else { throw FileFault(500, "no transfer") }
    return transfer
}

private func isCommit(_ action: UploadAction) -> Bool {
    if case .commit = action { true } else { false }
}

@Suite("resumable uploads")
struct SessionTests {
    static func session(
        _ dialect: FileDialect = .client,
        total: Int? = nil,
        limit: Int64 = 1 << 40
    ) throws -> UploadSession {
        let size =
            total.map {
                "\n\(dialect == .client ? "X-Goog-Upload-Header-Content-Length" : "X-Upload-Content-Length"): \($0)"
            } ?? ""
        let text =
            switch dialect {
            case .client:
                "POST /v0/b/demo.appspot.com/o?name=v%2Fa b.mp4\nX-Goog-Upload-Command: start\(size)"
            case .server:
                "POST /upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable&name=v%2Fa b.mp4&ifGenerationMatch=0\(size)"
            case .plain: "POST /demo.appspot.com/v/a%20b.mp4\nx-goog-resumable: start\(size)"
            }
        guard case .upload(let start) = try FileRequest(head(text)).call else {
            throw FileFault(500, "no upload")
        }
        return try UploadSession(
            start.description(
                FileMetadataBody(Array(#"{"metadata":{"k":"v"}}"#.utf8)),
                isAdmin: false
            ),
            uid: "u",
            isAdmin: false,
            byteLimit: limit,
            now: .later
        )
    }

    /// Bytes that tell where they are.
    private static let bytes: [UInt8] = {
        var random = TestSeed.generator(94)
        return (0..<90_000).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
    }()

    @Test(
        "store the bytes that a plain reading stores, whatever is cut, repeated or overlaps"
    )
    func twin() throws {
        let seed = TestSeed.first
        var random = TestSeed.generator(93)
        var counts: [String: Int] = [:]
        let states = [
            "commit", "final", "cancelled", "active", "overlap", "repeat", "cut", "granule",
            "tooMany",
        ]
        var rounds = 0
        // Some seeds reach a state late.
        while rounds < 600 || rounds < 6_000 && states.contains(where: { counts[$0] ?? 0 <= 4 }) {
            rounds += 1
            let isClient = random.index(2) == 0
            // Most are small: what is about the granularity needs few.
            let size = [0, 1, 40, 1_000, 1_000, 5_000, 262_144, 500_000][random.index(8)]
            let file = Array(Self.bytes[..<(size + random.index(3))])
            let announced =
                random.index(2) == 0 ? file.count + [0, 0, 0, 5, -1][random.index(5)] : nil
            let total = announced.map { max(0, $0) }
            let limit = random.index(8) == 0 ? max(1, file.count - 1) : 1 << 30
            if let total, total > limit {
                #expect(throws: FileFault.tooLarge(limit: Int64(limit))) {
                    try Self.session(total: total, limit: Int64(limit))
                }
                continue
            }
            var session = try Self.session(
                isClient ? .client : .server,
                total: total,
                limit: Int64(limit)
            )
            var twin = NaiveUpload(isClient: isClient, limit: limit, total: total)
            var stored: [UInt8] = []
            for _ in 0..<12 {
                let step = Self.step(&random, isClient, stored.count, file)
                var body: [UInt8] = []
                if case .bytes(let chunk) = step {
                    let start = chunk.offset.map { Int($0) } ?? stored.count
                    let count =
                        chunk.byteCount.map { Int($0) }
                        ?? [131_072, 300_000, file.count / 3, file.count / 2][random.index(4)]
                    body =
                        start < file.count
                        ? Array(file[start..<min(file.count, start + max(0, count))]) : []
                    if random.index(15) == 0 { body.append(7) }
                    if file.count < start { body = [] }
                }
                let isWhole = random.index(4) > 0
                if !isWhole { body.removeLast(min(body.count, random.index(200_000))) }
                let wanted = twin.handle(step, body: body, isWhole: isWhole)
                let outcome = Self.handle(&session, step, body, isWhole, &stored, &random, &counts)
                #expect(outcome == wanted, "seed \(seed): \(step) over \(stored.count)")
                #expect(
                    stored == twin.bytes && session.byteCount == Int64(stored.count),
                    "seed \(seed): \(step)"
                )
                // It comes back from its record between any two requests.
                if random.index(3) == 0 {
                    #expect(try UploadSession(json: session.json) == session)
                    session = try UploadSession(json: session.json)
                }
                if wanted == .commit {
                    counts["commit", default: 0] += 1
                    let denied = random.index(3) == 0
                    if random.index(4) > 0 {
                        let answer =
                            denied
                            ? session.finish(.denied(.write))
                            : session.finish(json: Array("{}".utf8))
                        (twin.state, twin.finalStatus) = ("final", answer.status)
                        #expect(answer.status == (denied ? 403 : 200))
                        #expect(answer.header("x-goog-upload-status") == (isClient ? "final" : nil))
                    }
                }
            }
            counts[twin.state, default: 0] += 1
        }
        for state in states {
            #expect(counts[state] ?? 0 > 4, "\(state): \(counts)")
        }
    }

    private static func step(
        _ random: inout SeededGenerator,
        _ isClient: Bool,
        _ stored: Int,
        _ file: [UInt8]
    ) -> UploadStep {
        switch random.index(24) {
        case 0: return .cancel
        case 1: return isClient ? .finish : .query(total: Int64(file.count))
        case 2, 3: return .query(total: isClient || random.index(2) == 0 ? nil : Int64(file.count))
        default:
            let offsets = [
                stored, stored, stored, 0, stored / 2, stored / 262_144 * 262_144, stored + 1,
            ]
            let offset = Int64(offsets[random.index(7)])
            if isClient {
                return .bytes(
                    .init(offset: random.index(5) == 0 ? nil : offset, isLast: random.index(3) == 0)
                )
            }
            let count = Int64([file.count / 3, 262_144, file.count][random.index(3)])
            let total: Int64? = random.index(2) == 0 ? Int64(file.count) : nil
            switch random.index(3) {
            case 0: return .bytes(.init(offset: offset, isLast: true, total: total))
            case 1:
                return .bytes(
                    .init(offset: offset, isLast: false, total: total, byteCount: max(1, count))
                )
            default:
                let rest = max(1, Int64(file.count) - offset)
                return .bytes(.init(offset: offset, isLast: true, total: total, byteCount: rest))
            }
        }
    }

    private static func handle(
        _ session: inout UploadSession,
        _ step: UploadStep,
        _ body: [UInt8],
        _ isWhole: Bool,
        _ stored: inout [UInt8],
        _ random: inout SeededGenerator,
        _ counts: inout [String: Int]
    ) -> NaiveUpload.Outcome {
        var action = session.begin(step)
        if case .receive(var transfer) = action {
            let before = stored.count
            var index = 0
            while index < body.count {
                let count = min(body.count - index, 1 + random.index(200_000))
                if let (range, offset) = transfer.take(count) {
                    #expect(offset == Int64(stored.count))
                    stored += body[(index + range.lowerBound)..<(index + range.upperBound)]
                    if range.lowerBound > 0 { counts["overlap", default: 0] += 1 }
                } else if transfer.fault == nil {
                    counts["repeat", default: 0] += 1
                }
                index += count
            }
            if !isWhole { counts["cut", default: 0] += 1 }
            if transfer.fault != nil {
                counts["tooMany", default: 0] += 1
                // What was written of a body that is refused does not count.
                stored = Array(stored[..<before])
            }
            action = session.end(transfer, isWhole: isWhole)
            if !isWhole, session.byteCount > before { counts["granule", default: 0] += 1 }
            stored = Array(stored[..<Int(session.byteCount)])
        }
        switch action {
        case .commit: return .commit
        case .answer(let answer):
            return .answer(answer.status, answer.header("x-goog-upload-status"))
        case .receive:
            Issue.record("bytes twice")
            return .commit
        }
    }

    @Test("begin without a body, with an address that is whole")
    func started() throws {
        let client = try Self.session().started(id: "U1", base: "https://files.example.com")
        let url =
            "https://files.example.com/v0/b/demo.appspot.com/o?name=v%2Fa%20b.mp4&upload_id=U1&upload_protocol=resumable"
        #expect(client.status == 200 && client.body.isEmpty)
        #expect(
            client.header("X-Goog-Upload-URL") == url
                && client.header("X-Goog-Upload-Status") == "active"
        )
        #expect(client.header("X-Goog-Upload-Chunk-Granularity") == "262144")
        let server = try Self.session(.server).started(id: "U2", base: "http://h:1")
        #expect(server.status == 200 && server.body.isEmpty)
        #expect(
            server.header("Location")
                == "http://h:1/upload/storage/v1/b/demo.appspot.com/o?uploadType=resumable&name=v%2Fa%20b.mp4&upload_id=U2"
        )
        let plain = try Self.session(.plain).started(id: "U3", base: "http://h:1")
        #expect(plain.status == 201)
        #expect(plain.header("Location") == "http://h:1/demo.appspot.com/v/a%20b.mp4?upload_id=U3")
        for answer in [url, server.header("Location") ?? "", plain.header("Location") ?? ""] {
            let target = "/" + answer.split(separator: "/", maxSplits: 2)[2]
            guard
                case .uploadStep = try FileRequest(
                    head("PUT \(target)\nX-Goog-Upload-Command: query")
                ).call
            else {
                Issue.record("\(answer) is no step")
                continue
            }
        }
    }

    @Test("answer a library with 308 and what is stored, without a range when nothing is")
    func serverProgress() throws {
        var session = try Self.session(.server)
        let nothing = try answer(of: session.begin(.query(total: nil)))
        #expect(nothing.status == 308 && nothing.header("range") == nil && nothing.body.isEmpty)
        var transfer = try transfer(
            of: session.begin(.bytes(.init(offset: 0, isLast: false, byteCount: 262_144)))
        )
        _ = transfer.take(262_144)
        let some = try answer(of: session.end(transfer, isWhole: true))
        #expect(some.status == 308 && some.header("range") == "bytes=0-262143")
        #expect(isCommit(session.begin(.query(total: 262_144))))
    }

    @Test(
        "answer a client's query of a final one with the metadata, and name no granularity before"
    )
    func clientQuery() throws {
        var session = try Self.session(total: 0)
        let active = try answer(of: session.begin(.query(total: nil)))
        #expect(active.header("x-goog-upload-chunk-granularity") == nil)
        #expect(active.header("x-goog-upload-size-received") == "0" && active.status == 200)
        #expect(isCommit(session.begin(.finish)))
        let first = session.finish(json: Array(#"{"name":"a"}"#.utf8))
        for step in [UploadStep.query(total: nil), .finish, .bytes(.init(offset: 0, isLast: true))]
        {
            let again = try answer(of: session.begin(step))
            #expect(
                again.status == 200 && again.text == first.text
                    && again.header("x-goog-upload-status") == "final"
            )
        }
        let cancelled = try answer(of: session.begin(.cancel))
        #expect(cancelled.status == 400)
    }

    @Test("stay denied once they are, in the same words")
    func denied() throws {
        var session = try Self.session()
        let first = session.finish(.denied(.write))
        #expect(first.status == 403 && first.header("x-goog-upload-status") == "final")
        #expect(
            first.text
                == #"{"error":{"code":403,"message":"Permission denied. No WRITE permission."}}"#
        )
        var restored = try UploadSession(json: session.json)
        let again = try answer(of: restored.begin(.finish))
        #expect(again.status == 403 && again.text == first.text)
    }

    @Test("end after seven days")
    func age() throws {
        let session = try Self.session()
        let week = Timestamp(milliseconds: Timestamp.later.milliseconds + 7 * 86_400_000)
        #expect(
            session.isExpired(at: week)
                && !session.isExpired(at: Timestamp(milliseconds: week.milliseconds - 1))
        )
    }

    @Test("have records that keep everything, and are refused when they are cut")
    func records() throws {
        for dialect in FileDialect.allCases {
            var session = try Self.session(dialect, total: 5)
            #expect(try UploadSession(json: session.json) == session)
            _ = session.begin(.cancel)
            #expect(try UploadSession(json: session.json) == session)
            let text = session.json
            for end in text.indices {
                #expect(throws: JSONFieldsFault.self) {
                    try UploadSession(json: Array(text[..<end]))
                }
            }
        }
        for (text, words) in [
            (#"{"v":3}"#, "form 3"), (#"{"v":1,"x":1}"#, "'x' is no member"),
            (#"{"v":1}"#, "'received', 'limit' and 'created'"),
            (#"{"v":1,"received":0,"limit":1,"created":1}"#, "'dialect' must be"),
            (#"{"v":1,"received":0,"limit":1,"created":1,"dialect":"client"}"#, "A bucket name"),
            (
                #"{"v":1,"received":0,"limit":1,"created":1,"dialect":"client","bucket":"abc","name":"a","state":"x"}"#,
                "'x' is no state"
            ),
            (
                #"{"v":1,"received":0,"limit":1,"created":1,"dialect":"client","bucket":"abc","name":"a","state":"final"}"#,
                "a final state must have"
            ),
            (
                #"{"v":1,"received":0,"limit":1,"created":1,"dialect":"client","bucket":"abc","name":"a","md5":"x"}"#,
                "'md5' and 'crc32c'"
            ),
        ] {
            do throws(JSONFieldsFault) {
                _ = try UploadSession(json: Array(text.utf8))
                Issue.record("\(text) was read")
            } catch {
                #expect(error.description.contains(words), "\(error)")
            }
        }
    }
}
