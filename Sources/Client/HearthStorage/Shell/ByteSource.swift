import Foundation
import HearthCore

/// The bytes of an upload, which can be read again from any place.
enum ByteSource: Sendable {
    case data(Data)
    case file(SourceFile)

    var byteCount: Int64 {
        switch self {
        case .data(let data): Int64(data.count)
        case .file(let file): file.byteCount
        }
    }

    /// Bytes from `offset` on, `count` at most; fewer only at the end.
    ///
    /// - Throws: `StorageError.unknown` when the file cannot be read, or has become shorter.
    func read(at offset: Int64, count: Int) throws(StorageError) -> Data {
        switch self {
        case .data(let data):
            let start = data.startIndex + Int(min(offset, Int64(data.count)))
            return data[start..<min(start + count, data.endIndex)]
        case .file(let file): return try file.read(at: offset, count: count)
        }
    }
}

/// A file that is read while it is sent. Its size is that of its opening.
final class SourceFile: Sendable {
    let byteCount: Int64
    private let path: String
    private let handle: Mutex<FileHandle>

    /// - Throws: `StorageError.unknown` when there is no such file that can be read.
    init(_ url: URL) throws(StorageError) {
        path = url.path
        do {
            guard url.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
            let handle = try FileHandle(forReadingFrom: url)
            let size = try FileManager.default.attributesOfItem(atPath: url.path)
            guard size[.type] as? FileAttributeType != .typeDirectory else {
                throw CocoaError(.fileReadNoPermission)
            }
            byteCount = Int64(try handle.seekToEnd())
            self.handle = Mutex(handle)
        } catch {
            throw .unknown(
                message: "The file \(url.path) cannot be read: \(error.localizedDescription)",
                serverError: [:]
            )
        }
    }

    func read(at offset: Int64, count: Int) throws(StorageError) -> Data {
        let bytes: Data?
        do {
            bytes = try handle.withLock { handle in
                try handle.seek(toOffset: UInt64(offset))
                return try handle.read(upToCount: count)
            }
        } catch {
            throw .unknown(
                message: "The file \(path) cannot be read: \(error.localizedDescription)",
                serverError: [:]
            )
        }
        let expected = min(Int64(count), byteCount - offset)
        guard let bytes, Int64(bytes.count) == expected else {
            if expected <= 0 { return Data() }
            throw .unknown(
                message: "The file \(path) became shorter while it was uploaded.",
                serverError: [:]
            )
        }
        return bytes
    }
}
