import DatabaseCore
import Gzip
import JSONTree
import Transport
import WireProtocol

/// What a write that comes in parts is about.
struct BodyPurpose: Sendable {
    let use: BodyUse
    let target: WriteTarget
    let conditions: RESTConditions
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
        case .request(let error): return .bad(error)
        case .gzip(.damaged): return .error(400, "The body is not a gzip stream.")
        case .gzip(.truncated):
            return .error(400, "The body ends before its gzip stream does.")
        case .gzip(.trailingBytes):
            return .error(400, "Something follows the gzip stream in the body.")
        case .gzip(.tooLarge), .treeTooLarge:
            // In the words for a body that is too large as it is.
            return .error(
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

    /// Bytes of text after which the next job goes first: some 10 ms.
    private static let sliceByteCount = 1 << 20

    private let purpose: BodyPurpose
    private var inflater: Inflater?
    /// Parts not read yet.
    private var parts = WaitingLine<[UInt8]>()
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
        for part in more { parts.append(part) }
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
                    guard let part = parts.popFirst() else { return nil }
                    inflater.append(part)
                }
            } catch { throw .gzip(error) }
        }
        return parts.popFirst()
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
        parts = WaitingLine()
        assembly = nil
        inflater = nil
        return madeByteCount
    }

    private func take(_ bytes: [UInt8]) throws(BodyFault) {
        madeByteCount += bytes.count
        do throws(BadRequest) { try readText(bytes) } catch { throw .request(error) }
    }

    private func readText(_ bytes: [UInt8]) throws(BadRequest) {
        if assembly != nil { return try assemble(bytes) }
        text += bytes
        if text.count <= BodyReader.windowByteCount { return }
        let isUpdate = purpose.use == .patch
        assembly = JSONAssembly(windowByteCount: BodyReader.windowByteCount, isUpdate: isUpdate)
        let known = text
        text = []
        try assemble(known)
    }

    private func assemble(_ bytes: [UInt8]) throws(BadRequest) {
        if isBlank, let first = bytes.first(where: { !$0.isJSONSpace }) {
            isBlank = false
            if purpose.use == .patch, first != UInt8(ascii: "{") { throw .notAnObject }
        }
        do throws(JSONError) { try assembly?.append(bytes) } catch {
            throw BadRequest(error.reason, at: assembly?.faultPosition)
        }
    }

    private func operation() throws(BadRequest) -> Request.Operation {
        let (use, target, conditions) = (purpose.use, purpose.target, purpose.conditions)
        guard var assembly else {
            return try Request.Operation(use, target, conditions, body: text)
        }
        if isBlank { throw .noData }
        self.assembly = nil
        if purpose.use == .patch {
            let entries: [(path: String, draft: Draft)]
            do throws(JSONError) { entries = try assembly.finishUpdate() } catch {
                throw BadRequest(error.reason, at: assembly.faultPosition)
            }
            return try Request.Operation(mergeAt: target, entries, conditions)
        }
        let draft: Draft
        do throws(JSONError) { draft = try assembly.finish() } catch {
            throw BadRequest(error.reason, at: assembly.faultPosition)
        }
        return try Request.Operation(use, target, conditions, draft: draft)
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
