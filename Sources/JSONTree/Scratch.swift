/// Memory in which a scanner encodes values, and a writer text, before they are copied out.
///
/// Grows, never shrinks, and is freed with its last owner. Places into it are good until it grows.
/// Copies share the memory: only one of them may be in the middle of a value.
struct Scratch {
    /// The first byte.
    private(set) var base: MutablePlace
    private(set) var capacity = 0
    /// Bytes written so far.
    var used = 0
    /// Owns the bytes; nil before the first use.
    private var memory: ManagedBuffer<Int, UInt8>?

    /// Memory of no bytes; the first use allocates.
    init() {
        unsafe base = MutablePlace(UnsafeMutablePointer(bitPattern: 8).unsafelyUnwrapped)
    }

    /// Memory of `capacity` bytes that the caller lends; outgrown, it is left for memory of its own.
    init(lent base: MutablePlace, capacity: Int) {
        self.base = base
        self.capacity = capacity
    }

    /// Whether the bytes are not, or no longer, in lent memory.
    var ownsMemory: Bool { memory != nil }

    /// Makes room for bytes up to `end`, keeping all that is there.
    @inline(__always)
    mutating func reserve(to end: Int) {
        if end > capacity { grow(to: end) }
    }

    @inline(never)
    private mutating func grow(to end: Int) {
        let wanted = max(end, 2 * capacity, 1024)
        let fresh = ManagedBuffer<Int, UInt8>.create(minimumCapacity: wanted) { _ in wanted }
        let place = unsafe fresh.withUnsafeMutablePointerToElements { unsafe MutablePlace($0) }
        // All of the old memory: text being copied lies behind `used`.
        place.copy(from: base.place, count: capacity)
        memory = fresh
        base = place
        capacity = wanted
    }

    /// The bytes from `start` on, lent until the memory grows.
    @inline(__always)
    func bytes(_ start: Int, _ count: Int) -> Bytes { (base.place + start).bytes(count) }

    /// Moves the bytes of `range` by `distance`, which may overlap.
    @inline(__always)
    mutating func move(_ range: Range<Int>, by distance: Int) {
        reserve(to: range.upperBound + max(0, distance))
        unsafe (base + range.lowerBound + distance).pointer.update(
            from: (base + range.lowerBound).pointer,
            count: range.count
        )
    }

    /// Appends `count` bytes of `place`, which may lie in this memory below `used`.
    ///
    /// There must be room.
    @inline(__always)
    mutating func append(_ place: Place, _ count: Int) {
        (base + used).copy(from: place, count: count)
        used += count
    }

    /// The key of the entry at `offset`, lent until the memory grows.
    @inline(__always)
    func entryKey(_ offset: Int) -> Bytes {
        let entry = base.place + offset
        if entry[0] != 255 { return (entry + 1).bytes(Int(entry[0])) }
        return (entry + 3).bytes(entry.load16(1))
    }
}
