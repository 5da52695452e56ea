import DatabaseCore
import Transport
import WireProtocol

/// The frames of one message, made once for all its receivers.
///
/// The wire protocol cuts a message of more than 16 KiB into segments; elsewhere a message of any size is one frame.
struct MessageFrames {
    private let text: [UInt8]
    private var whole: SharedFrame?
    private var segments: SharedFrame?

    init(_ text: [UInt8]) {
        self.text = text
    }

    /// What a receiver gets; nil when the message is longer than any client takes.
    mutating func frame(inSegments: Bool) -> SharedFrame? {
        if inSegments, text.count > WireLimits.segmentByteCount { return cut() }
        if let whole { return whole }
        let made = SharedFrame(text: text)
        whole = made
        return made
    }

    private mutating func cut() -> SharedFrame? {
        if let segments { return segments }
        guard let ranges = Segments.frames(of: text) else { return nil }
        var made = SharedFrame(text: Segments.countFrame(ranges.count))
        for range in ranges { made.append(SharedFrame(text: Array(text[range]))) }
        segments = made
        return made
    }
}

/// The frames of one numbered message, made once for everything that its receivers have in common.
///
///     up to 16 KiB        one frame for each number
///     wire protocol       count, segment ... segment | last segment with number and ending
///     elsewhere           first fragment: the text   | last fragment: number and ending
///
/// What stands before the bar is one array for all receivers. The number of segments, and with it
/// their count, can depend on how many digits the number has; so it is made once for each.
struct NumberedFrames {
    /// What one receiver gets.
    struct Pair {
        /// Shared with others, before `own`.
        let shared: SharedFrame?
        let own: SharedFrame
    }

    /// Segments of messages whose numbers have equally many digits.
    private struct Cut {
        let shared: SharedFrame
        /// Where in the text the first segment of the receiver's own begins.
        let textOffset: Int
        /// Byte ranges of the own segments in the text from there, the number and the ending.
        let ownRanges: [Range<Int>]
    }

    /// Bytes of a message up to which a copy for each number is cheaper than sending in two parts.
    static let copiedByteCount = WireLimits.segmentByteCount

    private let text: NumberedText
    private var wholes: [Int64: SharedFrame] = [:]
    private var fragment: SharedFrame?
    private var fragmentEndings: [Int64: SharedFrame] = [:]
    /// By digits of the number; nil when the message is too long to be sent.
    private var cuts: [Int: Cut?] = [:]
    private var segmentEndings: [Int64: SharedFrame] = [:]

    init(_ text: NumberedText) {
        self.text = text
    }

    /// The number in decimal, then the ending.
    static func end(of text: NumberedText, _ number: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.ending.count + 20)
        var digits = number.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(digits % 10))
            digits /= 10
        } while digits > 0
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.reverse()
        bytes += text.ending
        return bytes
    }

    /// What a receiver gets; nil when the message is longer than any client takes.
    mutating func frames(for number: Int64, inSegments: Bool) -> Pair? {
        let end = NumberedFrames.end(of: text, number)
        if text.text.count + end.count <= NumberedFrames.copiedByteCount {
            let made = wholes[number] ?? SharedFrame(text: text.text, ending: end)
            wholes[number] = made
            return Pair(shared: nil, own: made)
        }
        return inSegments ? segments(number, end) : fragments(number, end)
    }

    private mutating func fragments(_ number: Int64, _ end: [UInt8]) -> Pair {
        let shared = fragment ?? SharedFrame.beginning(text.text)
        fragment = shared
        let own = fragmentEndings[number] ?? SharedFrame.ending(end)
        fragmentEndings[number] = own
        return Pair(shared: shared, own: own)
    }

    private mutating func segments(_ number: Int64, _ end: [UInt8]) -> Pair? {
        let cut = cuts[end.count] ?? NumberedFrames.cut(text.text, end)
        cuts[end.count] = .some(cut)
        guard let cut else { return nil }
        if let own = segmentEndings[number] { return Pair(shared: cut.shared, own: own) }
        let bytes = text.text[cut.textOffset...] + end
        var own: SharedFrame?
        for range in cut.ownRanges {
            let start = bytes.startIndex + range.lowerBound
            let segment = SharedFrame(text: Array(bytes[start..<start + range.count]))
            if own == nil { own = segment } else { own?.append(segment) }
        }
        guard let own else { preconditionFailure("the number is in some segment") }
        segmentEndings[number] = own
        return Pair(shared: cut.shared, own: own)
    }

    /// Cuts one message; others with equally many digits are cut at the same offsets, since a digit is a whole scalar.
    private static func cut(_ text: [UInt8], _ end: [UInt8]) -> Cut? {
        guard let ranges = Segments.frames(of: text + end) else { return nil }
        var shared = SharedFrame(text: Segments.countFrame(ranges.count))
        var textOffset = 0
        for range in ranges where range.upperBound <= text.count {
            shared.append(SharedFrame(text: Array(text[range])))
            textOffset = range.upperBound
        }
        let own = ranges.filter { $0.upperBound > text.count }
        return Cut(
            shared: shared,
            textOffset: textOffset,
            ownRanges: own.map { $0.lowerBound - textOffset..<$0.upperBound - textOffset }
        )
    }
}
