import Foundation
import HearthCore

/// Where the bytes of a download go.
protocol ByteSink: Sendable {
    /// Forgets what came so far.
    func restart() throws(StorageError)
    /// Takes the next bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError)
    /// All bytes are there.
    func finish() throws(StorageError)
    /// No more come, and those that are there do not count.
    func discard()
}

/// Bytes in memory, so many at most.
final class MemorySink: ByteSink {
    private let maxSize: Int64
    private let bytes = Mutex(Data())

    init(maxSize: Int64) { self.maxSize = maxSize }

    var data: Data { bytes.withLock { $0 } }

    func restart() { bytes.withLock { $0 = Data() } }

    func append(_ more: UnsafeRawBufferPointer) throws(StorageError) {
        try bytes.withLock { bytes throws(StorageError) in
            let total = Int64(bytes.count + more.count)
            if total > maxSize { throw .downloadSizeExceeded(total: total, maxSize: maxSize) }
            bytes.append(contentsOf: more)
        }
    }

    func finish() {}

    func discard() { restart() }
}

/// A file that is there once it is whole: until then its bytes stand beside it, under a name with `.part` at its end.
final class FileSink: ByteSink {
    private let url: URL
    private let part: URL
    private let handle = Mutex<FileHandle?>(nil)

    init(_ url: URL) {
        self.url = url
        part = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString).part")
    }

    deinit { discard() }

    func restart() throws(StorageError) {
        try attempt {
            try handle.withLock { handle in
                if handle == nil {
                    try Data().write(to: part)
                    handle = try FileHandle(forWritingTo: part)
                }
                try handle?.truncate(atOffset: 0)
            }
        }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        let data = Data(bytes)
        try attempt { try handle.withLock { try $0?.write(contentsOf: data) } }
    }

    func finish() throws(StorageError) {
        try attempt {
            try handle.withLock { handle in
                try handle?.close()
                handle = nil
            }
            guard rename(part.path, url.path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
    }

    func discard() {
        do {
            try handle.withLock { handle in
                guard handle != nil else { return }
                try handle?.close()
                handle = nil
                try FileManager.default.removeItem(at: part)
            }
        } catch {
            HearthConfiguration.shared.log(
                .warning,
                "\(part.path) cannot be removed: \(error.localizedDescription)"
            )
        }
    }

    private func attempt(_ body: () throws -> Void) throws(StorageError) {
        do {
            try body()
        } catch {
            throw .unknown(
                message: "The file \(url.path) cannot be written: \(error.localizedDescription)",
                serverError: [:]
            )
        }
    }
}
