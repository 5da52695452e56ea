import Glibc
import Gzip

/// The file that is imported: JSON, or JSON that gzip compressed.
package final class ImportSource {
    /// For errors: the file's name, or `standard input`.
    package let name: String
    /// Bytes of the file; nil where that is not known, as for a pipe.
    package let byteCount: Int?
    /// Nanoseconds since 1970 at its last change.
    let modified: Int
    /// Bytes read from the file.
    package private(set) var readByteCount = 0

    private let descriptor: Descriptor
    private var buffer = [UInt8](repeating: 0, count: 256 * 1024)

    /// What was read of the file before it was asked for, to see what it is.
    private var start: [UInt8] = []

    /// Expands the file; nil when it is not compressed.
    private let inflater: Inflater?

    /// Whether offsets in the text are none in the file.
    var isCompressed: Bool { inflater != nil }

    /// How files that gzip compressed begin.
    private static let signature: [UInt8] = [0x1F, 0x8B]

    /// Opens a file and reads its start; `-` is standard input.
    package init(_ path: String) throws(CommandError) {
        descriptor = path == "-" ? .standardInput : try .reading(path)
        name = descriptor.name
        let status = descriptor.status
        byteCount = descriptor.isRegularFile ? Int(status.st_size) : nil
        modified = Int(status.st_mtim.tv_sec) * 1_000_000_000 + Int(status.st_mtim.tv_nsec)
        // A pipe may bring one byte at first.
        while start.count < Self.signature.count {
            let part = try Self.part(of: descriptor, &buffer)
            if part.isEmpty { break }
            start += part
        }
        // As much text as there is: it is written as it comes.
        inflater = start.starts(with: Self.signature) ? Inflater(byteLimit: .max) : nil
    }

    /// Hands on the next bytes of the text, 256 KiB at most; false at its end.
    package func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(CommandError) -> Bool {
        guard let inflater else {
            let part = try nextPart()
            part.withUnsafeBytes(take)
            return !part.isEmpty
        }
        while true {
            if let text = try expanded(inflater) {
                text.withUnsafeBytes(take)
                return true
            }
            let part = try nextPart()
            if part.isEmpty {
                try checkEnd(inflater)
                return false
            }
            inflater.append(Array(part))
        }
    }

    private func expanded(_ inflater: Inflater) throws(CommandError) -> [UInt8]? {
        do throws(GzipError) {
            return try inflater.next()
        } catch .trailingBytes {
            throw .failed(
                "\(name) has something behind its gzip stream; expand it with gunzip first"
            )
        } catch {
            throw .failed("\(name) is damaged: it cannot be expanded before byte \(readByteCount)")
        }
    }

    private func checkEnd(_ inflater: Inflater) throws(CommandError) {
        do throws(GzipError) {
            try inflater.finish()
        } catch {
            throw .failed("\(name) is cut short")
        }
    }

    /// The next bytes of the file; none at its end.
    private func nextPart() throws(CommandError) -> ArraySlice<UInt8> {
        var part = start[...]
        if part.isEmpty {
            part = try Self.part(of: descriptor, &buffer)
        } else {
            start = []
        }
        readByteCount += part.count
        return part
    }

    private static func part(
        of descriptor: Descriptor,
        _ buffer: inout [UInt8],
    ) throws(CommandError) -> ArraySlice<UInt8> {
        let count = try buffer.withUnsafeMutableBufferPointer { (bytes) throws(CommandError) in
            try descriptor.read(into: UnsafeMutableRawBufferPointer(bytes))
        }
        return buffer[..<count]
    }
}
