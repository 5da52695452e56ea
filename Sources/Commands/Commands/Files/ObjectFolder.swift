import FileRecords
import Files
import Glibc
import JSONTree
import Tokens
import WriteAheadLog

/// A folder with the objects of a bucket.
///
///     objects.jsonl        a line for each object: name, path, size, crc32c, metadata
///     objects/a/b.png      bytes; characters that file systems cannot have are written as %2F
///     by-hash/…            bytes of names that cannot be paths: too long, or one goes on where another ends
struct ObjectFolder {
    let path: String

    static let list = "objects.jsonl"
    /// Bytes of one piece of a path.
    private static let segmentByteLimit = 200

    /// Makes it if it is missing.
    func make() throws(CommandError) {
        guard mkdir(path, 0o777) == 0 || errno == EEXIST && Folder.exists(path) else {
            throw Descriptor.systemError(path)
        }
    }

    func full(_ relative: String) -> String { "\(path)/\(relative)" }

    // MARK: - Paths

    /// Where the bytes of an object go; its folder is made.
    func place(of name: String) throws(CommandError) -> String {
        if let relative = Self.relative(name), isFree(relative) { return relative }
        let relative = "by-hash/\(SHA256Digest.hex(name))"
        guard isFree(relative) else {
            throw Descriptor.systemError(full(relative))
        }
        return relative
    }

    private static func relative(_ name: String) -> String? {
        let pieces = name.split(separator: "/", omittingEmptySubsequences: false).map(escaped)
        let areNames = pieces.allSatisfy { (1...segmentByteLimit).contains($0.utf8.count) }
        return areNames ? "objects/" + pieces.joined(separator: "/") : nil
    }

    private static func escaped(_ piece: Substring) -> String {
        if piece == "." || piece == ".." { return piece.map { _ in "%2E" }.joined() }
        var text = ""
        for scalar in piece.unicodeScalars {
            if scalar.value < 0x20 || scalar.value == 0x7F
                || "%\\:*?\"<>|".unicodeScalars.contains(scalar)
            {
                text += Hexadecimal.encode([UInt8(scalar.value)]).uppercased().percented
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        // While a file is written it has this ending.
        return text.hasSuffix(".partial") ? text.dropLast() + "%6C" : text
    }

    /// Makes the folders above a path; whether a file can be there.
    private func isFree(_ relative: String) -> Bool {
        var folder = path
        let pieces = relative.split(separator: "/")
        for piece in pieces.dropLast() {
            folder += "/\(piece)"
            guard mkdir(folder, 0o777) == 0 || errno == EEXIST && Folder.exists(folder) else {
                return false
            }
        }
        return !Folder.exists(full(relative))
    }

    // MARK: - Contents

    /// Whether the bytes of an object are there.
    func has(_ object: StoredObject, at relative: String) throws(CommandError) -> Bool {
        var status = stat()
        guard lstat(full(relative), &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Int(status.st_size) == object.byteCount
        else { return false }
        let file = try Descriptor.reading(full(relative))
        var crc32c: UInt32 = 0
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let part = try file.read(into: &buffer)
            if part.isEmpty { break }
            crc32c = part.withUnsafeBytes { CRC32C.update(crc32c, $0) }
        }
        return FileContent.text(crc32c: crc32c) == object.crc32c
    }

    /// The objects of the list.
    func objects() throws(CommandError) -> [StoredObject] {
        let file = full(Self.list)
        if FileStamp.of("\(file).partial") != nil {
            throw .failed(
                "\(file).partial is there: the download into \(path) is not finished, do it again"
            )
        }
        let bytes = try Descriptor.reading(file).readAll(byteLimit: .max)
        var found: [StoredObject] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let object = Node(answer: Array(line)).flatMap(StoredObject.init),
                let relative = object.path, Self.isBelow(relative)
            else {
                throw .failed(
                    "\(file), line \(index + 1): is not an object of 'hearth files download'"
                )
            }
            found.append(object)
        }
        return found
    }

    /// Whether a path of a list stays in the folder.
    private static func isBelow(_ relative: String) -> Bool {
        relative.split(separator: "/", omittingEmptySubsequences: false)
            .allSatisfy { !["", ".", ".."].contains($0) } && !relative.utf8.contains(0)
    }
}

extension String {
    /// Two hexadecimal digits as a percent escape.
    fileprivate var percented: String { "%\(self)" }
}
