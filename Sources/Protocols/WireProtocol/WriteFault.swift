package import JSONTree

/// Why a value cannot be written where a client wants it; the descriptions are for people.
package enum WriteFault: Error, Equatable, Sendable {
    /// The text, cut short, is not a path.
    case path(String, PathError)
    /// The text begins with `/.info`, which clients keep for themselves.
    case infoPath
    /// The location, or what the value holds below it, is more than `Limits.depth` keys from the root.
    case tooDeep(keyCount: Int)
    /// The value of a priority is not a number, string or null.
    case priority
    /// A path of a merge is empty.
    case emptyPath
    /// Two locations of a merge: one covers the other.
    case overlap(String, String)
}

extension WriteFault: CustomStringConvertible {
    /// What is wrong, in words that fit into a reply.
    package var description: String {
        switch self {
        case .path(let text, let error):
            "bad path \"\(text)\": \(FaultText.path(error))"
        case .infoPath:
            "/.info is kept by the client and cannot be read or written here"
        case .tooDeep(let keyCount):
            FaultText.path(.tooDeep(keyCount: keyCount))
        case .priority:
            FaultText.json(.badPriority)
        case .emptyPath:
            "a merge must not have an empty path"
        case .overlap(let first, let second):
            "a merge must not write \(FaultText.quoted(first)) and \(FaultText.quoted(second)) "
                + "at once"
        }
    }
}

extension WriteTarget {
    /// Reads the path of a request, whose last piece may be `.priority`.
    package init(requestPath text: String) throws(WriteFault) {
        do throws(PathError) {
            self = try WriteTarget(text)
        } catch {
            let first = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1).first
            if let first, first.elementsEqual(".info".utf8) { throw .infoPath }
            throw .path(text.cutToQuote(), error)
        }
    }
}

extension Draft {
    /// Checks the limits that depend on the location: the depth from the root, and the values of a priority.
    package func check(at target: WriteTarget) throws(WriteFault) {
        guard target.isPriority else {
            let depth = target.path.keyCount + self.depth
            guard depth > Limits.depth else { return }
            throw .tooDeep(keyCount: depth)
        }
        let isScalar = node.isAbsent || node.number != nil || node.string != nil
        let isPlain = node.priority.isAbsent
        let isServerValueAlone = serverValues.allSatisfy {
            $0.target.path.isRoot && !$0.target.isPriority && $0.priority.isAbsent
        }
        guard isScalar && isPlain && isServerValueAlone else { throw .priority }
    }
}

extension MergeEntry {
    /// The locations that a merge at `base` writes; none may cover another.
    ///
    /// Throws `WriteFault` for one that cannot be written, or that another covers.
    package static func checked(
        _ merge: [(path: String, draft: Draft)],
        base: Path,
    ) throws(WriteFault) -> [MergeEntry] {
        var entries: [MergeEntry] = []
        entries.reserveCapacity(merge.count)
        for (text, draft) in merge {
            let relative = try WriteTarget(requestPath: text)
            guard relative.isPriority || !relative.path.isRoot else { throw .emptyPath }
            let depth = base.keyCount + relative.path.keyCount
            guard depth <= Limits.depth else { throw .tooDeep(keyCount: depth) }
            let path = base.appending(relative.path)
            let target = WriteTarget(path: path, isPriority: relative.isPriority)
            try draft.check(at: target)
            entries.append(MergeEntry(target: target, draft: draft))
        }
        // In path order everything below a location follows it directly, so comparing neighbours is enough.
        let targets = entries.map(\.target).sorted()
        for (target, next) in zip(targets, targets.dropFirst())
        where target.isAncestorOrEqual(of: next) {
            throw .overlap("\(target)", "\(next)")
        }
        return entries
    }
}
