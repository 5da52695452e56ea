/// Names in the order of their bytes, one behind the other in one array: the lowest level of an index.
///
///     bytes   a/1.png a/2.png b.txt
///     ends          7      14    19
struct NamePage: Sendable {
    /// Bytes that a page takes before it is cut in two; ours. Larger ones move more for each name, smaller ones cost more
    /// beside the names.
    static let byteLimit = 2048

    private(set) var bytes: [UInt8] = []
    /// Where each name ends.
    private var ends: [UInt16] = []

    /// The number of names.
    var count: Int { ends.count }

    /// Where a name lies.
    func range(_ index: Int) -> Range<Int> {
        (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])
    }

    /// The bytes of a name.
    func name(_ index: Int) -> [UInt8] { Array(bytes[range(index)]) }

    /// Whether a name comes before `other`.
    func isName(_ index: Int, before other: [UInt8]) -> Bool {
        let range = range(index)
        let count = min(range.count, other.count)
        for offset in 0..<count {
            let (a, b) = (bytes[range.lowerBound + offset], other[offset])
            if a != b { return a < b }
        }
        return range.count < other.count
    }

    /// Whether a name is `other`.
    func isName(_ index: Int, equalTo other: [UInt8]) -> Bool {
        let range = range(index)
        return range.count == other.count && bytes[range].elementsEqual(other)
    }

    /// Whether a name comes after `other`.
    func isName(_ index: Int, after other: [UInt8]) -> Bool {
        !isName(index, before: other) && !isName(index, equalTo: other)
    }

    /// The first name that is not before `other`, or the number of names.
    func position(of other: [UInt8]) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isName(middle, before: other) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func insert(_ name: [UInt8], at index: Int) {
        let start = index == 0 ? 0 : Int(ends[index - 1])
        bytes.insert(contentsOf: name, at: start)
        ends.insert(UInt16(start), at: index)
        for later in index..<count { ends[later] += UInt16(name.count) }
    }

    mutating func remove(at index: Int) {
        let range = range(index)
        bytes.removeSubrange(range)
        ends.remove(at: index)
        for later in index..<count { ends[later] -= UInt16(range.count) }
    }

    /// Whether it is too long and must be cut.
    var isFull: Bool { bytes.count > Self.byteLimit && count > 1 }

    /// Cuts the page in two and returns the second part.
    ///
    /// In the middle of its bytes; before its last name when that one was just added, so that names that come in order
    /// leave full pages behind.
    mutating func cut(addedAt index: Int) -> NamePage {
        var middle = count - 1
        if index < count - 1 {
            middle = 1
            while middle < count - 1, range(middle).upperBound <= bytes.count / 2 { middle += 1 }
        }
        let start = range(middle).lowerBound
        var second = NamePage()
        second.bytes = Array(bytes[start...])
        second.ends = ends[middle...].map { $0 - UInt16(start) }
        // Copies, so that neither part keeps the room of the whole.
        bytes = Array(bytes[..<start])
        ends = Array(ends[..<middle])
        return second
    }

    /// Puts the names of the page that follows behind its own.
    mutating func append(_ next: NamePage) {
        let start = UInt16(bytes.count)
        bytes += next.bytes
        ends += next.ends.map { $0 + start }
    }

    /// Bytes of memory that it takes, as Swift lays out arrays: 32 bytes before the elements of each.
    var memoryByteCount: Int {
        2 * MemoryLayout<[UInt8]>.stride + 64 + bytes.capacity + 2 * ends.capacity
    }
}
