/// Memory in which a scanner encodes values, and a writer text, before they are copied out.
///
/// Grows, never shrinks, and is freed with its last owner. Pointers into it are valid until it
/// grows. Copies share the memory: only one of them may be in the middle of a value.
struct Scratch {
    private(set) var base: MutableBytePointer
    private(set) var capacity = 0
    /// Bytes written so far.
    var used = 0
    /// Owns the bytes; nil before the first use.
    private var memory: ManagedBuffer<Int, UInt8>?

    /// Memory of no bytes; the first use allocates.
    init() {
        unsafe base = MutableBytePointer(UnsafeMutablePointer(bitPattern: 8).unsafelyUnwrapped)
    }

    /// Memory of `capacity` bytes that the caller lends; outgrown, it is left for memory of its own.
    init(borrowed base: MutableBytePointer, capacity: Int) {
        self.base = base
        self.capacity = capacity
    }

    /// Whether the bytes are not, or no longer, in borrowed memory.
    var ownsMemory: Bool { memory != nil }

    /// Makes room for bytes up to `end`, keeping the content.
    @inline(__always)
    mutating func reserve(to end: Int) {
        if end > capacity { grow(to: end) }
    }

    @inline(never)
    private mutating func grow(to end: Int) {
        let wanted = max(end, 2 * capacity, 1024)
        let fresh = ManagedBuffer<Int, UInt8>.create(minimumCapacity: wanted) { _ in wanted }
        let pointer = unsafe fresh.withUnsafeMutablePointerToElements {
            unsafe MutableBytePointer($0)
        }
        // All of the old memory: text being copied lies behind `used`.
        pointer.copy(from: base.pointer, count: capacity)
        memory = fresh
        base = pointer
        capacity = wanted
    }

    /// The bytes from `start` on, borrowed until the memory grows.
    @inline(__always)
    func bytes(_ start: Int, _ count: Int) -> Bytes { (base.pointer + start).bytes(count) }

    /// Moves the bytes of `range` by `distance`, which may overlap.
    @inline(__always)
    mutating func move(_ range: Range<Int>, by distance: Int) {
        reserve(to: range.upperBound + max(0, distance))
        unsafe (base + range.lowerBound + distance).address.update(
            from: (base + range.lowerBound).address,
            count: range.count
        )
    }

    /// Appends `count` bytes of `pointer`, which may lie in this memory below `used`.
    ///
    /// There must be room.
    @inline(__always)
    mutating func append(_ pointer: BytePointer, _ count: Int) {
        (base + used).copy(from: pointer, count: count)
        used += count
    }

    /// The key of the entry at `offset`, borrowed until the memory grows.
    @inline(__always)
    func entryKey(_ offset: Int) -> Bytes { (base.pointer + offset).entryKey }
}
