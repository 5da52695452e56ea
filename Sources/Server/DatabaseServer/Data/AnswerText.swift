import JSONTree
import WireProtocol

/// A text that is made piece by piece.
protocol PiecewiseText: Sendable {
    /// Appends at least `byteCount` bytes, unless the text ends before; returns whether there are more.
    mutating func next(into out: inout [UInt8], atLeast byteCount: Int) -> Bool
}

extension JSONStream: PiecewiseText {}
extension StreamedServerSentEvent: PiecewiseText {}

/// The text of an answer to a data request, made piece by piece from its snapshot.
///
/// However large it is, no more of it stands in memory than what was asked for.
struct AnswerText: PiecewiseText {
    private var source: any PiecewiseText
    /// What stands behind the JSON.
    private let end: [UInt8]
    private var isOver = false

    /// The text of a value.
    init(_ node: Node, _ form: Node.JSONForm, isPretty: Bool = false) {
        source = JSONStream(node, form, isPretty ? .pretty() : .compact)
        end = isPretty ? [0x0A] : []
    }

    /// The text of the object of a multi-path update, whose paths begin at `base`.
    init(_ entries: [(WriteTarget, Node)], base: Path, isPretty: Bool) {
        source = UpdateText(entries, base: base, isPretty: isPretty)
        end = isPretty ? [0x0A] : []
    }

    /// Appends at least `byteCount` bytes, unless the text ends before; returns whether there are more.
    ///
    /// At most one small map, or 16 KiB of a string before escapes, more than asked for.
    mutating func next(into out: inout [UInt8], atLeast byteCount: Int) -> Bool {
        if isOver { return false }
        let isMore = source.next(into: &out, atLeast: byteCount)
        if !isMore {
            isOver = true
            out += end
        }
        return isMore
    }

    /// The next piece; nil behind the end.
    mutating func piece(atLeast byteCount: Int) -> [UInt8]? {
        if isOver { return nil }
        var piece: [UInt8] = []
        _ = next(into: &piece, atLeast: byteCount)
        return piece
    }
}

/// The object of a multi-path update as it was written, member by member.
private struct UpdateText: PiecewiseText {
    private let entries: [(WriteTarget, Node)]
    private let base: Path
    private let isPretty: Bool
    private var hasBegun = false
    private var index = 0
    /// The value of the entry before `index`, partly written.
    private var open: JSONStream?

    init(_ entries: [(WriteTarget, Node)], base: Path, isPretty: Bool) {
        self.entries = entries
        self.base = base
        self.isPretty = isPretty
    }

    mutating func next(into out: inout [UInt8], atLeast byteCount: Int) -> Bool {
        let end = out.count + byteCount
        if !hasBegun { out.append(UInt8(ascii: "{")) }
        hasBegun = true
        while out.count < end {
            if var stream = open {
                let isMore = stream.next(into: &out, atLeast: end - out.count)
                open = isMore ? stream : nil
            } else if index < entries.count {
                begin(entries[index], &out)
            } else {
                if isPretty, !entries.isEmpty { out.append(0x0A) }
                out.append(UInt8(ascii: "}"))
                return false
            }
        }
        return true
    }

    private mutating func begin(_ entry: (WriteTarget, Node), _ out: inout [UInt8]) {
        let (target, node) = entry
        if index > 0 { out.append(UInt8(ascii: ",")) }
        if isPretty { out.append(contentsOf: "\n  ".utf8) }
        let path = target.path.dropFirst(base.keyCount).wireText
        let suffix = target.isPriority ? (path.isEmpty ? ".priority" : "/.priority") : ""
        appendJSONString(path + suffix, to: &out)
        out.append(contentsOf: (isPretty ? " : " : ":").utf8)
        open = JSONStream(node, .value, isPretty ? .pretty(level: 1) : .compact)
        index += 1
    }
}
