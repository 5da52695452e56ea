import BlobStore
import FileProtocol
import FileRecords

/// The bytes of an upload in one request, on the worker: taken apart, and written to a draft.
///
/// `@unchecked Sendable`: the jobs of one worker own it, one at a time.
final class FileSink: @unchecked Sendable {
    private let folder: PreparedFolder
    private let id: UploadID
    private let byteLimit: Int64
    /// Bytes that the request announces, at most about so many.
    private let announced: Int64
    private var reader: MultipartReader?
    private var draft: BlobDraft?
    /// The metadata of a body that has it.
    private var metadata: [UInt8] = []
    /// The type that the second part of such a body has.
    private var type: String?

    /// What has come.
    struct Received: Sendable {
        let metadata: [UInt8]
        let type: String?
        /// Sealed.
        let draft: BlobDraft
        let content: FileContent
    }

    /// `boundary` is that of a body with metadata; nil for one that is the bytes of the object.
    init(
        _ folder: PreparedFolder,
        boundary: [UInt8]?,
        announced: Int64,
        byteLimit: Int64
    ) {
        self.folder = folder
        id = folder.blobs.uploads.newID()
        reader = boundary.map { MultipartReader(boundary: $0) }
        self.announced = announced
        self.byteLimit = byteLimit
    }

    /// Takes the next bytes of the body; why the upload ends, or nil.
    func take(_ parts: [[UInt8]]) -> FileFault? {
        do throws(FileFault) {
            for part in parts { try take(part) }
            return nil
        } catch {
            return error
        }
    }

    private func take(_ part: [UInt8]) throws(FileFault) {
        guard reader != nil else { return try store(part[...]) }
        for event in try reader?.feed(part) ?? [] {
            switch event {
            case .metadata(let json): metadata = json
            case .content(let type): self.type = type
            case .bytes(let range): try store(part[range])
            case .keptBytes(let bytes): try store(bytes[...])
            case .end: break
            }
        }
    }

    private func store(_ bytes: ArraySlice<UInt8>) throws(FileFault) {
        let draft = try opened()
        guard draft.byteCount + Int64(bytes.count) <= byteLimit else {
            throw .tooLarge(limit: byteLimit)
        }
        // A request may announce fewer bytes than come, or none.
        try folder.checkRoom(Int64(bytes.count))
        do throws(BlobError) { try draft.append(bytes) } catch { throw FileFault(error) }
    }

    private func opened() throws(FileFault) -> BlobDraft {
        if let draft { return draft }
        let made = try folder.create(id, byteCount: announced)
        draft = made
        return made
    }

    /// The body is whole: makes its bytes durable.
    func finish() throws(FileFault) -> Received {
        try reader?.finish()
        let draft = try opened()
        let sums: BlobSums
        do throws(BlobError) { sums = try draft.seal() } catch { throw FileFault(error) }
        draft.rest()
        return Received(metadata: metadata, type: type, draft: draft, content: sums.content)
    }

    /// Forgets what has come.
    func drop() {
        guard let draft else { return }
        draft.rest()
        self.draft = nil
        _ = Result { () throws(BlobError) in try folder.blobs.uploads.removeBytes(of: id) }
    }
}

/// The bytes of one request to a resumable upload, on the worker. `@unchecked Sendable`: as `FileSink`.
final class ChunkSink: @unchecked Sendable {
    private(set) var transfer: UploadTransfer
    let draft: BlobDraft
    private let folder: PreparedFolder

    init(_ transfer: UploadTransfer, _ draft: BlobDraft, _ folder: PreparedFolder) {
        self.transfer = transfer
        self.draft = draft
        self.folder = folder
    }

    /// Takes the next bytes of the body; why nothing more is taken, or nil.
    func take(_ parts: [[UInt8]]) -> FileFault? {
        let byteCount = parts.reduce(0) { $0 + $1.count }
        do throws(FileFault) { try folder.checkRoom(Int64(byteCount)) } catch { return error }
        do throws(BlobError) {
            for part in parts {
                if let (range, _) = transfer.take(part.count) { try draft.append(part[range]) }
                if let fault = transfer.fault { return fault }
            }
            return nil
        } catch {
            return FileFault(error)
        }
    }
}
