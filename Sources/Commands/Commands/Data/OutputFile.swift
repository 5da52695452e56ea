import Files
import Glibc
import Gzip

/// Where a value goes: standard output, or a file that is there under its name only when it is whole.
final class OutputFile {
    /// Bytes given so far, before they are compressed.
    private(set) var byteCount = 0
    private var checksum = TextChecksum()

    private enum Destination {
        /// A file that gets its name when it is whole.
        case draft(FileDraft)
        /// Where bytes go straight to.
        case stream(Descriptor)
    }

    private let destination: Destination

    /// Escapes control characters; nil where no terminal shows them.
    private var terminal: TerminalText?

    private let compressor: Deflater?
    private var buffer: [UInt8] = []
    private static let bufferByteCount = 256 * 1024

    /// Opens the file at `path`; nil, `-` and `/dev/stdout` mean standard output.
    ///
    /// A regular file is written as `PATH.partial` first, with `isPrivate` readable to its owner alone; devices and
    /// pipes are written to as they are. `compresses` means gzip.
    init(_ path: String?, compresses: Bool = false, isPrivate: Bool = false) throws(CommandError) {
        compressor = compresses ? Deflater() : nil
        destination = try Self.open(path, isPrivate ? 0o600 : 0o666)
        guard case .stream(let descriptor) = destination, descriptor.isTerminal else { return }
        guard !compresses else {
            throw .usage("compressed data says nothing on a terminal; name a file with -o")
        }
        terminal = TerminalText()
    }

    private static func open(
        _ path: String?,
        _ permissions: mode_t
    ) throws(CommandError) -> Destination {
        guard let path, path != "-", path != "/dev/stdout" else { return .stream(.standardOutput) }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            guard status.st_mode & S_IFMT != S_IFDIR else { throw .failed("\(path): is a folder") }
            return .stream(try .opened(path, O_WRONLY))
        }
        do throws(FileError) {
            return .draft(try FileDraft(path, permissions: permissions))
        } catch {
            throw .failed("\(error)")
        }
    }

    var isOnTerminal: Bool { terminal != nil }

    /// The path of the draft, before the file is whole; nil for a stream.
    var draftPath: String? {
        guard case .draft(let draft) = destination else { return nil }
        return draft.partial
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CommandError) {
        byteCount += bytes.count
        checksum.append(bytes)
        if let compressor {
            try put(compressor.deflate(Array(bytes), isLast: false))
        } else if terminal != nil {
            var shown: [UInt8] = []
            terminal?.append(bytes, to: &shown)
            try put(shown)
        } else {
            try put(bytes)
        }
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws(CommandError) {
        if buffer.isEmpty, bytes.count >= Self.bufferByteCount / 4 {
            try send(bytes)
            return
        }
        buffer += bytes
        if buffer.count >= Self.bufferByteCount { try flush() }
    }

    private func put(_ bytes: [UInt8]) throws(CommandError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CommandError) in
            try put(UnsafeRawBufferPointer(buffer))
        }
    }

    func write(_ bytes: [UInt8]) throws(CommandError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CommandError) in
            try write(UnsafeRawBufferPointer(buffer))
        }
    }

    private func flush() throws(CommandError) {
        try buffer.withUnsafeBufferPointer { (buffer) throws(CommandError) in
            try send(UnsafeRawBufferPointer(buffer))
        }
        buffer.removeAll(keepingCapacity: true)
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(CommandError) {
        switch destination {
        case .stream(let descriptor): try descriptor.write(bytes)
        case .draft(let draft):
            do throws(FileError) { try draft.write(bytes) } catch { throw .failed("\(error)") }
        }
    }

    /// Writes a whole file; devices and pipes are written to as they are.
    static func write(
        _ bytes: [UInt8],
        to path: String?,
        isPrivate: Bool = false
    ) throws(CommandError) {
        let file = try OutputFile(path, isPrivate: isPrivate)
        try file.write(bytes)
        try file.finish()
    }

    /// Writes the rest, and gives the file its name.
    ///
    /// With `isReadBack` a regular file is first read from the disk as an import reads it: it must be
    /// one whole JSON value of the bytes that were written. Elsewhere nothing can be read back.
    func finish(isReadBack: Bool = false) throws(CommandError) {
        if let compressor { try put(compressor.deflate([], isLast: true)) }
        var rest: [UInt8] = []
        terminal?.finish(&rest)
        try put(rest)
        try flush()
        guard case .draft(let draft) = destination else { return }
        if isReadBack { try readBack(draft) }
        do throws(FileError) { try draft.commit() } catch { throw .failed("\(error)") }
    }

    private func readBack(_ draft: FileDraft) throws(CommandError) {
        let written: String
        do throws(FileError) { written = try draft.sync() } catch { throw .failed("\(error)") }
        let source = try ImportSource(written)
        var validator = JSONValidator()
        var found = TextChecksum()
        var isJSON = true
        while isJSON,
            try source.read({ bytes in
                isJSON = validator.read(bytes)
                found.append(bytes)
            })
        {}
        guard isJSON, validator.isWhole, found == checksum else {
            throw .failed(
                "\(draft.path) does not read back as it was written, so it was not kept; check the disk"
            )
        }
    }
}
