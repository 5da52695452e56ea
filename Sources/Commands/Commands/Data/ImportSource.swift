import Glibc
import Gzip

/// The file that is imported: JSON, or JSON that gzip compressed.
final class ImportSource {
    /// For errors: the file's name, or `standard input`.
    let name: String
    /// Bytes of the file; nil where that is not known, as for a pipe.
    let byteCount: Int?
    /// Nanoseconds since 1970 at its last change.
    let modified: Int
    private(set) var readByteCount = 0

    private let descriptor: Descriptor
    private var buffer = [UInt8](repeating: 0, count: 256 * 1024)

    /// The bytes read in advance to detect the format.
    private var start: [UInt8] = []

    /// Expands the file; nil when it is not compressed.
    private let inflater: Inflater?

    /// Whether offsets in the text differ from offsets in the file.
    var isCompressed: Bool { inflater != nil }

    /// How files that gzip compressed begin.
    private static let signature: [UInt8] = [0x1F, 0x8B]

    /// Opens a file and reads its start; `-` is standard input.
    init(_ path: String) throws(CommandError) {
        descriptor = path == "-" ? .standardInput : try .reading(path)
        name = descriptor.name
        let status = try descriptor.status()
        byteCount = Descriptor.byteCount(status)
        modified = Int(status.st_mtim.tv_sec) * 1_000_000_000 + Int(status.st_mtim.tv_nsec)
        // A pipe may bring one byte at first.
        while start.count < Self.signature.count {
            let part = try descriptor.read(into: &buffer)
            if part.isEmpty { break }
            start += part
        }
        // As much text as there is: it is written as it comes.
        inflater = start.starts(with: Self.signature) ? Inflater(byteLimit: .max) : nil
    }

    /// Hands on the next bytes of the text, 256 KiB at most; false at its end.
    func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(CommandError) -> Bool {
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
            part = try descriptor.read(into: &buffer)
        } else {
            start = []
        }
        readByteCount += part.count
        return part
    }
}
