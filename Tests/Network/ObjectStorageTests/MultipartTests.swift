import TestSupport
import Testing

@testable import ObjectStorage

@Suite("objects in parts")
struct MultipartTests {
    private static let step: Int64 = 1000

    private static let begun = ScriptedServer.Answer(
        200,
        text: """
            <InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\
            <UploadId>u+/1</UploadId></InitiateMultipartUploadResult>
            """
    )
    private static let ended = ScriptedServer.Answer(
        200,
        text: "<?xml version=\"1.0\"?>   \n <CompleteMultipartUploadResult/>"
    )
    private static let missing = ScriptedServer.Answer.error(404, "NoSuchUpload")

    private static func part(_ number: Int) -> ScriptedServer.Answer {
        .init(200, ["ETag: \"t\(number)\""])
    }

    private static func noise(_ count: Int64) -> [UInt8] {
        (0..<Int(count)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
    }

    private static func store(_ answers: [ScriptedServer.Answer]) throws -> ScriptedStore {
        try ScriptedStore(answers, partByteCount: step)
    }

    @Test("are begun, sent and ended, each part with its hash")
    func parts() throws {
        let scripted = try Self.store([
            Self.begun, Self.part(1), Self.part(2), Self.part(3), Self.ended,
        ])
        let bytes = Self.noise(2 * Self.step + 5)
        try scripted.store.put(.bytes(bytes), at: key())
        let path = "/files/ab/cdef"
        #expect(
            scripted.lines == [
                "POST \(path)?uploads=", "PUT \(path)?partNumber=1&uploadId=u%2B%2F1",
                "PUT \(path)?partNumber=2&uploadId=u%2B%2F1",
                "PUT \(path)?partNumber=3&uploadId=u%2B%2F1", "POST \(path)?uploadId=u%2B%2F1",
            ]
        )
        let requests = scripted.server.requests
        #expect(requests[1...3].flatMap(\.body) == bytes)
        #expect(requests[3].body.count == 5)
        #expect(requests.allSatisfy { $0.headers["x-amz-content-sha256"]?.count == 64 })
        let digest = try ObjectSource.bytes(Array(bytes.suffix(5))).digest()
        #expect(requests[3].headers["x-amz-content-sha256"] == digest)
        let tags = try XMLReader.read(requests[4].body).children.map { $0.text(of: "ETag") }
        #expect(tags == ["\"t1\"", "\"t2\"", "\"t3\""])
    }

    @Test("are no more than a store takes, and none is empty")
    func partCounts() {
        let step = ObjectStoreLimits.partByteCount
        for byteCount in [step + 1, 2 * step, 5 << 30, step * 10_000, step * 10_000 + 1, 5 << 40] {
            let parts = ObjectStore.parts(of: byteCount, partByteCount: step)
            #expect(parts.count <= 10_000)
            #expect(parts.first?.lowerBound == 0)
            #expect(parts.last?.upperBound == byteCount)
            #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
            #expect(parts.allSatisfy { !$0.isEmpty && $0.count <= 5 << 30 })
            #expect(parts.dropLast().allSatisfy { $0.count >= 5 << 20 })
        }
        #expect(ObjectStore.parts(of: 5 << 30, partByteCount: step).count == 80)
    }

    @Test("are sent again from their start after a failure")
    func retried() throws {
        let scripted = try Self.store([
            Self.begun, Self.part(1), .cut, .init(500), Self.part(2), Self.ended,
        ])
        let bytes = Self.noise(2 * Self.step)
        try scripted.store.put(.bytes(bytes), at: key())
        let requests = scripted.server.requests
        #expect(requests[2...4].allSatisfy { $0.body == Array(bytes[Int(Self.step)...]) })
        #expect(scripted.waits.milliseconds == [200, 400])
    }

    @Test("are taken back when one is refused")
    func aborted() throws {
        let scripted = try Self.store([
            Self.begun, Self.part(1), .error(403, "AccessDenied"), .init(204),
        ])
        let error = scripted.error { try $0.put(.bytes(Self.noise(2 * Self.step)), at: key()) }
        #expect(error?.operation == .uploadPart)
        #expect(error?.leftUploadID == nil)
        #expect(scripted.lines.last == "DELETE /files/ab/cdef?uploadId=u%2B%2F1")
    }

    @Test("that stay behind are named")
    func left() throws {
        let refused = ScriptedServer.Answer.error(403, "AccessDenied")
        let scripted = try Self.store([Self.begun, refused, refused])
        let error = scripted.error { try $0.put(.bytes(Self.noise(2 * Self.step)), at: key()) }
        #expect(error?.leftUploadID == "u+/1")
        #expect(error?.description.contains("upload u+/1 may still use space") == true)
        let gone = try Self.store([Self.begun, refused, Self.missing])
        let other = gone.error { try $0.put(.bytes(Self.noise(2 * Self.step)), at: key()) }
        #expect(other?.leftUploadID == nil)
    }

    @Test("that do not end although the head of the answer says so are ended again")
    func lateError() throws {
        let scripted = try Self.store([
            Self.begun, Self.part(1), Self.part(2), .error(200, "InternalError"), Self.ended,
        ])
        try scripted.store.put(.bytes(Self.noise(2 * Self.step)), at: key())
        #expect(scripted.server.leftCount == 0)
        let refused = try Self.store([
            Self.begun, Self.part(1), Self.part(2), .error(200, "InvalidPart"), .init(204),
        ])
        let error = refused.error { try $0.put(.bytes(Self.noise(2 * Self.step)), at: key()) }
        #expect(error?.description.contains("InvalidPart") == true)
        #expect(refused.server.leftCount == 0)
    }

    @Test("that ended while the answer was lost are there", arguments: [true, false])
    func lostAnswer(isWhole: Bool) throws {
        let byteCount = 2 * Self.step
        let found = ScriptedServer.Answer(200, byteCount: Int(isWhole ? byteCount : 1))
        let scripted = try Self.store([
            Self.begun, Self.part(1), Self.part(2), .cut, Self.missing, found, Self.missing,
        ])
        let error = scripted.error { try $0.put(.bytes(Self.noise(byteCount)), at: key()) }
        #expect((error == nil) == isWhole, "\(error?.description ?? "")")
        #expect(scripted.lines[5].hasPrefix("HEAD "))
    }

    @Test("whose upload is gone at the first try have failed")
    func goneUpload() throws {
        let scripted = try Self.store([
            Self.begun, Self.part(1), Self.part(2), Self.missing, Self.missing,
        ])
        let error = scripted.error { try $0.put(.bytes(Self.noise(2 * Self.step)), at: key()) }
        #expect(error?.operation == .completeMultipartUpload)
        #expect(error?.isOfMissingUpload == true)
    }

    @Test("need an id and tags", arguments: [0, 1])
    func unexpected(kind: Int) throws {
        let begun =
            kind == 0
            ? ScriptedServer.Answer(200, text: "<InitiateMultipartUploadResult/>") : Self.begun
        let scripted = try Self.store([begun, .init(200), .init(204)])
        let error = scripted.error { try $0.put(.bytes(Self.noise(2 * Self.step)), at: key()) }
        guard case .unexpected = error?.reason else {
            Issue.record("\(error?.description ?? "no error")")
            return
        }
        #expect(scripted.lines.count == (kind == 0 ? 1 : 3))
    }
}
