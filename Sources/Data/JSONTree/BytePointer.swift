#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A pointer into bytes that are known to be well-formed, for reading.
///
/// Reads are not checked: blocks are made by this module alone, and bytes from outside become
/// blocks only after `NodeDecoder` has checked every length, offset, order and type byte. All
/// arithmetic on addresses for reading is here.
@safe
struct BytePointer {
    let address: UnsafePointer<UInt8>

    @inline(__always)
    init(_ address: UnsafePointer<UInt8>) {
        unsafe self.address = address
    }

    @inline(__always)
    subscript(_ offset: Int) -> UInt8 { unsafe address[offset] }

    @inline(__always)
    func load16(_ offset: Int) -> Int {
        unsafe Int(UnsafeRawPointer(address + offset).loadUnaligned(as: UInt16.self))
    }

    @inline(__always)
    func load32(_ offset: Int) -> UInt32 {
        unsafe UnsafeRawPointer(address + offset).loadUnaligned(as: UInt32.self)
    }

    @inline(__always)
    func load64(_ offset: Int) -> UInt64 {
        unsafe UnsafeRawPointer(address + offset).loadUnaligned(as: UInt64.self)
    }

    @inline(__always)
    func bytes(_ count: Int) -> Bytes { unsafe Bytes(start: address, count: count) }

    func equals(_ other: BytePointer, count: Int) -> Bool {
        unsafe memcmp(address, other.address, count) == 0
    }

    @inline(__always)
    static func + (pointer: BytePointer, offset: Int) -> BytePointer {
        unsafe BytePointer(pointer.address + offset)
    }

    @inline(__always)
    static func - (a: BytePointer, b: BytePointer) -> Int { unsafe a.address - b.address }
}

/// A pointer into bytes that this module writes: a block not yet shared, or scratch memory.
///
/// Writes are not checked: the caller has computed the size of what it writes.
@safe
struct MutableBytePointer {
    let address: UnsafeMutablePointer<UInt8>

    @inline(__always)
    init(_ address: UnsafeMutablePointer<UInt8>) {
        unsafe self.address = address
    }

    @inline(__always)
    subscript(_ offset: Int) -> UInt8 {
        get { unsafe address[offset] }
        nonmutating set { unsafe address[offset] = newValue }
    }

    @inline(__always)
    func store16(_ value: Int, _ offset: Int) {
        unsafe UnsafeMutableRawPointer(address + offset)
            .storeBytes(of: UInt16(truncatingIfNeeded: value), as: UInt16.self)
    }

    @inline(__always)
    func store32(_ value: UInt32, _ offset: Int) {
        unsafe UnsafeMutableRawPointer(address + offset).storeBytes(of: value, as: UInt32.self)
    }

    @inline(__always)
    func store64(_ value: UInt64, _ offset: Int) {
        unsafe UnsafeMutableRawPointer(address + offset).storeBytes(of: value, as: UInt64.self)
    }

    @inline(__always)
    func copy(from pointer: BytePointer, count: Int) {
        unsafe address.update(from: pointer.address, count: count)
    }

    /// Writes `n key` of an entry and returns the pointer behind it.
    @inline(__always)
    func writeKey(_ key: Bytes) -> MutableBytePointer {
        let header = key.count < 255 ? 1 : 3
        if header == 1 {
            self[0] = UInt8(key.count)
        } else {
            self[0] = 255
            store16(key.count, 1)
        }
        (self + header).copy(from: key.pointer, count: key.count)
        return self + header + key.count
    }

    /// Writes what comes before the offsets of a map or branch.
    @inline(__always)
    func writeHeader(_ type: UInt8, size: Int, count: Int) {
        self[0] = type
        store16(size, 1)
        store16(count, 3)
    }

    @inline(__always)
    var pointer: BytePointer { unsafe BytePointer(address) }

    @inline(__always)
    static func + (pointer: MutableBytePointer, offset: Int) -> MutableBytePointer {
        unsafe MutableBytePointer(pointer.address + offset)
    }

    @inline(__always)
    static func - (a: MutableBytePointer, b: MutableBytePointer) -> Int {
        unsafe a.address - b.address
    }
}
