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
}

/// Why a body is no request.
enum BodyFault: Error, Sendable {
    case request(BadRequest)
    case gzip(GzipError)

    var answer: HTTPResponse {
        switch self {
        case .request(let error): return RESTAnswer.bad(error)
        case .gzip(.damaged): return RESTAnswer.error(400, "The body is not a gzip stream.")
        case .gzip(.truncated):
            return RESTAnswer.error(400, "The body ends before its gzip stream does.")
        case .gzip(.trailingBytes):
            return RESTAnswer.error(400, "Something follows the gzip stream in the body.")
        case .gzip(.tooLarge):
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
/// It is owned by the jobs of the one `reading` worker, which run one after the other; the loop only makes it.
final class BodyReader: @unchecked Sendable {
    /// Bytes of text that are kept and read at a time.
    static let windowByteCount = 256 * 1024

    private let purpose: BodyPurpose
    private var inflater: Inflater?
    /// The text, until it does not fit the window.
    private var text: [UInt8] = []
    private var assembly: JSONAssembly?
    private var isBlank = true
    private var isOver = false

    init(_ purpose: BodyPurpose) {
        self.purpose = purpose
        if purpose.coding == .gzip { inflater = Inflater(byteLimit: purpose.byteLimit) }
    }

    /// Reads the next part; nothing once one was refused.
    func append(_ part: [UInt8]) throws(BodyFault) {
        if isOver { return }
        do throws(BodyFault) {
            if inflater == nil { try take(part) } else { try inflate(part) }
        } catch {
            cut()
            throw error
        }
    }

    /// The request, once all parts are read.
    func finish() throws(BodyFault) -> Request.Operation {
        defer { cut() }
        if let inflater {
            do throws(GzipError) { try inflater.finish() } catch { throw .gzip(error) }
        }
        do throws(BadRequest) { return try operation() } catch { throw .request(error) }
    }

    /// Lets go of everything.
    func cut() {
        isOver = true
        text = []
        assembly = nil
        inflater = nil
    }

    private func inflate(_ part: [UInt8]) throws(BodyFault) {
        inflater?.append(part)
        while let piece = try inflated() { try take(piece) }
    }

    private func inflated() throws(BodyFault) -> [UInt8]? {
        do throws(GzipError) { return try inflater?.next() } catch { throw .gzip(error) }
    }

    private func take(_ bytes: [UInt8]) throws(BodyFault) {
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
