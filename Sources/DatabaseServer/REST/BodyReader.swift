import DatabaseCore
import Gzip
import JSONTree
import Queries
import Transport
import WireProtocol

/// What a write that comes in parts is about.
struct BodyPurpose: Sendable {
    let method: String
    let target: WriteTarget
    let conditions: RESTConditions
    /// The name of a new child, for a POST.
    let key: Key?
    let coding: ContentCoding
    /// Bytes of the body, inflated.
    let byteLimit: Int

    /// Bytes that may be made of it in memory: twice as many. Only lists of short numbers come to more, since each of
    /// their elements gets a key: `0,` becomes 14 bytes.
    var treeByteLimit: Int { 2 * byteLimit }
}

/// How far a body was read.
struct BodyProgress: Sendable {
    enum Step: Sendable {
        /// The slice is over, and there is more to read at once.
        case hasMore
        /// All parts are read.
        case needsMore
        case done(Request.Operation)
        case failed(BodyFault)
    }

    let step: Step
    /// Bytes that are held of it.
    let heldByteCount: Int
}

/// Why a body is no request.
enum BodyFault: Error, Sendable {
    case request(BadRequest)
    case gzip(GzipError)
    /// What is made of it takes too many bytes.
    case treeTooLarge

    var answer: HTTPResponse {
        switch self {
        case .request(let error): return RESTAnswer.bad(error)
        case .gzip(.damaged): return RESTAnswer.error(400, "The body is not a gzip stream.")
        case .gzip(.truncated):
            return RESTAnswer.error(400, "The body ends before its gzip stream does.")
        case .gzip(.trailingBytes):
            return RESTAnswer.error(400, "Something follows the gzip stream in the body.")
        case .gzip(.tooLarge), .treeTooLarge:
            // In the words for a body that is too large as it is.
            return RESTAnswer.error(
                400,
                "Data to write exceeds the maximum size that can be modified with a single request."
            )
        }
    }
}

/// Reads the body of one write while it arrives: inflates it, and makes the draft or the entries of it.
///
/// Beside what it makes it keeps a window of text. A body that fits the window is read as a small one is.
///
/// It is owned by its jobs on the readers, of which there is one at a time; the loop only makes it.
final class BodyReader: @unchecked Sendable {
    /// Bytes of text that are kept and read at a time.
    static let windowByteCount = 256 * 1024

    /// Bytes of text after which the next job has its turn: some 10 ms.
    private static let sliceByteCount = 1 << 20

    private let purpose: BodyPurpose
    private var inflater: Inflater?
    /// Parts not read yet, from `partStart` on.
    private var parts: [[UInt8]] = []
    private var partStart = 0
    private var isLastKnown = false
    /// The text, until it does not fit the window.
    private var text: [UInt8] = []
    private var assembly: JSONAssembly?
    private var isBlank = true
    /// Bytes of text read so far: about as many as were made of it.
    private var madeByteCount = 0

    init(_ purpose: BodyPurpose) {
        self.purpose = purpose
        if purpose.coding == .gzip { inflater = Inflater(byteLimit: purpose.byteLimit) }
    }

    /// Takes more parts, and reads a slice of what has come; `isLast` says that there will be no more.
    func read(_ more: [[UInt8]], isLast: Bool) -> BodyProgress {
        parts += more
        if isLast { isLastKnown = true }
        do throws(BodyFault) {
            let step = try readSlice()
            return BodyProgress(step: step, heldByteCount: heldByteCount)
        } catch {
            return BodyProgress(step: .failed(error), heldByteCount: heldByteCount)
        }
    }

    /// Bytes that are held of what was read.
    private var heldByteCount: Int { text.count + (assembly?.treeByteCount ?? 0) }

    private func readSlice() throws(BodyFault) -> BodyProgress.Step {
        var left = Self.sliceByteCount
        while left > 0 {
            guard let piece = try nextPiece() else {
                return isLastKnown ? .done(try finish()) : .needsMore
            }
            left -= piece.count
            try take(piece)
            if let assembly, assembly.treeByteCount > purpose.treeByteLimit { throw .treeTooLarge }
        }
        return .hasMore
    }

    /// The next bytes of text; nil when all parts are read.
    private func nextPiece() throws(BodyFault) -> [UInt8]? {
        if let inflater {
            do throws(GzipError) {
                while true {
                    if let piece = try inflater.next() { return piece }
                    guard let part = nextPart() else { return nil }
                    inflater.append(part)
                }
            } catch { throw .gzip(error) }
        }
        return nextPart()
    }

    private func nextPart() -> [UInt8]? {
        if partStart == parts.count {
            parts = []
            partStart = 0
            return nil
        }
        defer {
            parts[partStart] = []
            partStart += 1
        }
        return parts[partStart]
    }

    /// The request, once all parts are read.
    private func finish() throws(BodyFault) -> Request.Operation {
        if let inflater {
            do throws(GzipError) { try inflater.finish() } catch { throw .gzip(error) }
        }
        do throws(BadRequest) { return try operation() } catch { throw .request(error) }
    }

    /// Lets go of everything. Returns how many bytes were read.
    @discardableResult
    func cut() -> Int {
        text = []
        parts = []
        partStart = 0
        assembly = nil
        inflater = nil
        return madeByteCount
    }

    private func take(_ bytes: [UInt8]) throws(BodyFault) {
        madeByteCount += bytes.count
        do throws(BadRequest) { try read(bytes) } catch { throw .request(error) }
    }

    private func read(_ bytes: [UInt8]) throws(BadRequest) {
        if assembly != nil { return try assemble(bytes) }
        text += bytes
        if text.count <= BodyReader.windowByteCount { return }
        let isUpdate = purpose.method == "PATCH"
        assembly = JSONAssembly(
            windowByteCount: BodyReader.windowByteCount,
            isUpdate: isUpdate
        )
        let known = text
        text = []
        try assemble(known)
    }

    private func assemble(_ bytes: [UInt8]) throws(BadRequest) {
        if isBlank, let first = bytes.first(where: { !$0.isJSONSpace }) {
            isBlank = false
            if purpose.method == "PATCH", first != UInt8(ascii: "{") { throw .notAnObject }
        }
        do throws(JSONError) { try assembly?.append(bytes) } catch { throw told(error) }
    }

    private func operation() throws(BadRequest) -> Request.Operation {
        if assembly == nil {
            return try Request.Operation(
                purpose.method,
                purpose.target,
                .everything,
                purpose.conditions,
                body: text,
                key: purpose.key
            )
        }
        if isBlank { throw .noData }
        if purpose.method == "PATCH" {
            let entries = try entries()
            return try Request.Operation(
                mergeAt: purpose.target,
                entries,
                purpose.conditions
            )
        }
        let draft = try draft()
        return try Request.Operation(
            purpose.method,
            purpose.target,
            purpose.conditions,
            draft: draft,
            key: purpose.key
        )
    }

    private func draft() throws(BadRequest) -> Draft {
        guard var reader = assembly else { preconditionFailure("a large body is assembled") }
        assembly = nil
        do throws(JSONError) { return try reader.finish() } catch {
            throw BadRequest(error.reason, at: reader.faultPlace)
        }
    }

    private func entries() throws(BadRequest) -> [(path: String, draft: Draft)] {
        guard var reader = assembly else { preconditionFailure("a large body is assembled") }
        assembly = nil
        do throws(JSONError) { return try reader.finishUpdate() } catch {
            throw BadRequest(error.reason, at: reader.faultPlace)
        }
    }

    private func told(_ error: JSONError) -> BadRequest {
        BadRequest(error.reason, at: assembly?.faultPlace)
    }
}

/// Inflates a whole body that is read as one text.
func inflateWhole(_ body: [UInt8], byteLimit: Int) throws(GzipError) -> [UInt8] {
    let inflater = Inflater(byteLimit: byteLimit)
    inflater.append(body)
    var text: [UInt8] = []
    while let piece = try inflater.next() { text += piece }
    try inflater.finish()
    return text
}
