import JSONTree

/// Reads the member `ch` of a listen.
///
///     {"ps":["a/b","c"],"hs":["Kx...=","Pz...=",""]}
///
/// One hash more than there are paths; the last is empty, since clients hash all they have.
struct CompoundHashReader {
    private var paths: [String]?
    private var hashes: [String]?

    /// The compound hash that is next; nil for null.
    static func read(_ reader: inout MemberReader) throws(ReadingStop) -> CompoundHash? {
        if try reader.null() { return nil }
        guard try reader.enterObject() else { throw .body("`ch` must be an object") }
        var members = CompoundHashReader()
        while let name = try reader.nextMember() {
            switch name {
            case "ps": members.paths = try strings(&reader, name)
            case "hs": members.hashes = try strings(&reader, name)
            default: _ = try reader.skip()
            }
        }
        return try members.checked()
    }

    private static func strings(
        _ reader: inout MemberReader,
        _ name: String
    ) throws(ReadingStop) -> [String] {
        let fault = ReadingStop.body("`\(name)` of `ch` must be an array of strings")
        guard try reader.enterArray() else { throw fault }
        var strings: [String] = []
        while try reader.nextElement() {
            guard let string = try reader.string() else { throw fault }
            // A hash follows the last path.
            guard strings.count <= WireLimits.compoundHashPaths else {
                let limit = WireLimits.compoundHashPaths
                throw .body("`\(name)` of `ch` is too long, the limit is \(limit) paths")
            }
            strings.append(string)
        }
        return strings
    }

    private func checked() throws(ReadingStop) -> CompoundHash {
        guard let paths else { throw .body("`ps` of `ch` is missing") }
        guard let hashes else { throw .body("`hs` of `ch` is missing") }
        guard hashes.count == paths.count + 1 else {
            let counts = "\(paths.count) paths and \(hashes.count) hashes"
            throw .body("`ch` has \(counts), one hash more is due")
        }
        guard hashes.last == "" else { throw .body("the last of `hs` must be empty") }
        var ends: [WriteTarget] = []
        ends.reserveCapacity(paths.count)
        do throws(WriteFault) {
            for path in paths { ends.append(try WriteTarget(requestPath: path)) }
        } catch {
            throw .body("\(error)")
        }
        return CompoundHash(ends: ends, hashes: hashes.dropLast())
    }
}
