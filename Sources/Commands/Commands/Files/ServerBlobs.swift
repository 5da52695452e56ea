import BlobStore
import HTTPClient
import JSONTree

/// The contents of files that a server has, read piece by piece.
///
/// `@unchecked Sendable`: the command's one thread owns it, as its client needs.
final class ServerBlobs: BlobSource, @unchecked Sendable {
    private let server: AdministeredServer

    init(_ database: RemoteDatabase) { server = AdministeredServer(database) }

    func path(of hash: BlobHash) -> String {
        "files/blobs/\(hash.hex.prefix(2))/\(hash.hex.dropFirst(2)) of \(server.database.origin)"
    }

    func open(_ hash: BlobHash) throws(BlobError) -> any BlobReader {
        try ServerBlobReader(hash, self)
    }

    func list(after hash: BlobHash?, limit: Int) throws(BlobError) -> BlobPage {
        let parameters = hash.map { [(name: "after", value: $0.hex)] } ?? []
        let page: Node
        do throws(CommandError) {
            page = try server.tree(server.answer(.get, "/.backup/blobs.json", parameters))
        } catch {
            throw .remote("\(error)")
        }
        let entries = page.member("blobs").elements.compactMap { entry -> BlobPage.Entry? in
            guard let hash = entry.member("hash").string.flatMap({ BlobHash(hex: $0) }),
                let byteCount = entry.member("bytes").integer,
                let modified = entry.member("modified").integer
            else { return nil }
            return BlobPage.Entry(
                hash: hash,
                byteCount: byteCount,
                modified: Timestamp(milliseconds: modified)
            )
        }
        return BlobPage(entries: entries, isLast: page.member("isLast").boolean ?? true)
    }

    /// The bytes from `offset` on, at most `ServerBlobReader.windowByteCount`, and the bytes of the whole content.
    fileprivate func window(
        _ hash: BlobHash,
        at offset: Int64
    ) throws(BlobError) -> (bytes: [UInt8], byteCount: Int64) {
        let database = server.database
        var request = database.request(.get, resource: "/.backup/blobs/\(hash)")
        let last = offset + ServerBlobReader.windowByteCount - 1
        request.headers.append("Range: bytes=\(offset)-\(last)")
        let response: HTTPResponse
        do throws(CommandError) { response = try database.answer(to: request) } catch {
            throw .remote("\(error)")
        }
        let total = response.headers["content-range"]?.split(separator: "/").last
        switch response.status {
        case 200: return (response.body, Int64(response.body.count))
        case 206:
            guard let byteCount = total.flatMap({ Int64($0) }) else { break }
            return (response.body, byteCount)
        // An older server has no such address, and says another sentence.
        case 404 where RemoteDatabase.words(response).contains(hash.hex):
            throw .missing(path: path(of: hash))
        default: break
        }
        throw .remote("\(database.refusal(request, response))")
    }
}

/// One content, of which a window is in memory. `@unchecked Sendable`: the command's one thread owns it.
private final class ServerBlobReader: BlobReader, @unchecked Sendable {
    static let windowByteCount: Int64 = 4 << 20

    private let hash: BlobHash
    private let source: ServerBlobs
    private var window: (offset: Int64, bytes: [UInt8])
    let byteCount: Int64

    init(_ hash: BlobHash, _ source: ServerBlobs) throws(BlobError) {
        self.hash = hash
        self.source = source
        let (bytes, byteCount) = try source.window(hash, at: 0)
        window = (0, bytes)
        self.byteCount = byteCount
    }

    func read(at offset: Int64, count: Int) throws(BlobError) -> [UInt8] {
        if offset >= byteCount { return [] }
        let end = window.offset + Int64(window.bytes.count)
        if !(window.offset..<end).contains(offset) {
            window = (offset, try source.window(hash, at: offset).bytes)
        }
        let start = Int(offset - window.offset)
        return Array(window.bytes[start..<min(start + count, window.bytes.count)])
    }

    func close() {}
}
