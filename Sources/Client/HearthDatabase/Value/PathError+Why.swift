import JSONTree
import SyncCore
import WireProtocol

extension PathError {
    var why: String { FaultText.path(self) }
}

extension Path {
    /// Reads a path as apps write it, below `base`; the first key may be `.info`.
    init(appText text: String, below base: Path = .root) throws(DatabaseError) {
        let pieces = text.utf8.split(separator: UInt8(ascii: "/"))
        var base = base
        var rest = text
        if base.isRoot, let first = pieces.first, first.elementsEqual(".info".utf8) {
            base = .info
            rest = pieces.dropFirst().map { String(decoding: $0, as: UTF8.self) }
                .joined(separator: "/")
        }
        let path: Path
        do throws(PathError) {
            path = try Path(rest)
        } catch {
            throw .invalidPath(text, why: error.why)
        }
        let keyCount = base.keyCount + path.keyCount
        guard keyCount <= Limits.depth else {
            throw .invalidPath(text, why: PathError.tooDeep(keyCount: keyCount).why)
        }
        self = base.appending(path)
    }

    /// The path that a write may go to: not one that the client keeps for itself.
    func writable() throws(DatabaseError) -> Path {
        guard isInfo else { return self }
        throw .invalidPath(description, why: "what is below .info cannot be written")
    }
}
