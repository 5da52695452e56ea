extension FileBlock {
    /// What the captures of the whole pattern take of a path, in their order; nil when it does not match all of it.
    ///
    /// A pattern has one capture of several segments at most, so that one pass decides:
    ///
    ///     pattern  /b /{bucket} /o /{path=**} /original
    ///     path     /b /B        /o /x /y      /original      path = /x/y
    ///
    /// Such a capture takes at least `restMinimum` segments: 1 in version 1, else 0.
    func match(_ path: [[UInt8]], restMinimum: Int) -> [FileValue]? {
        let restIndex = pattern.firstIndex { if case .rest = $0 { true } else { false } }
        let restCount = restIndex.map { _ in path.count - (pattern.count - 1) } ?? 0
        if restIndex == nil, path.count != pattern.count { return nil }
        if restIndex != nil, restCount < restMinimum { return nil }
        var captures: [FileValue] = []
        var position = 0
        for segment in pattern {
            switch segment {
            case .literal(let text):
                if path[position] != text { return nil }
                position += 1
            case .capture:
                captures.append(.string(path[position]))
                position += 1
            case .rest:
                captures.append(.path(Array(path[position..<position + restCount])))
                position += restCount
            }
        }
        return captures
    }
}
