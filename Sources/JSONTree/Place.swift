#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A place inside bytes that are known to be well-formed, for reading.
///
/// Reads are not checked: blocks are made by this module alone, and bytes from outside become
/// blocks only after `NodeDecoder` has checked every length, offset, order and tag. All
/// arithmetic on addresses for reading is here.
@safe
struct Place {
    let pointer: UnsafePointer<UInt8>

    @inline(__always)
    init(_ pointer: UnsafePointer<UInt8>) {
        unsafe self.pointer = pointer
    }

    @inline(__always)
    subscript(_ offset: Int) -> UInt8 { unsafe pointer[offset] }

    @inline(__always)
    func load16(_ offset: Int) -> Int {
        unsafe Int(UnsafeRawPointer(pointer + offset).loadUnaligned(as: UInt16.self))
    }

    @inline(__always)
    func load32(_ offset: Int) -> UInt32 {
        unsafe UnsafeRawPointer(pointer + offset).loadUnaligned(as: UInt32.self)
    }

    @inline(__always)
    func load64(_ offset: Int) -> UInt64 {
        unsafe UnsafeRawPointer(pointer + offset).loadUnaligned(as: UInt64.self)
    }

    @inline(__always)
    func bytes(_ count: Int) -> Bytes { unsafe Bytes(start: pointer, count: count) }

    func equals(_ other: Place, count: Int) -> Bool {
        unsafe memcmp(pointer, other.pointer, count) == 0
    }

    @inline(__always)
    static func + (place: Place, offset: Int) -> Place { unsafe Place(place.pointer + offset) }

    @inline(__always)
    static func - (a: Place, b: Place) -> Int { unsafe a.pointer - b.pointer }
}

/// A place inside bytes that this module is writing: a block not yet shared, or scratch memory.
///
/// Writes are not checked; whoever makes one has computed the size of what follows.
@safe
struct MutablePlace {
    let pointer: UnsafeMutablePointer<UInt8>

    @inline(__always)
    init(_ pointer: UnsafeMutablePointer<UInt8>) {
        unsafe self.pointer = pointer
    }

    @inline(__always)
    subscript(_ offset: Int) -> UInt8 {
        get { unsafe pointer[offset] }
        nonmutating set { unsafe pointer[offset] = newValue }
    }

    @inline(__always)
    func store16(_ value: Int, _ offset: Int) {
        unsafe UnsafeMutableRawPointer(pointer + offset)
            .storeBytes(of: UInt16(truncatingIfNeeded: value), as: UInt16.self)
    }

    @inline(__always)
    func store32(_ value: UInt32, _ offset: Int) {
        unsafe UnsafeMutableRawPointer(pointer + offset).storeBytes(of: value, as: UInt32.self)
    }

    @inline(__always)
    func store64(_ value: UInt64, _ offset: Int) {
        unsafe UnsafeMutableRawPointer(pointer + offset).storeBytes(of: value, as: UInt64.self)
    }

    @inline(__always)
    func copy(from place: Place, count: Int) {
        unsafe pointer.update(from: place.pointer, count: count)
    }

    /// Writes `n key` of an entry and returns the place behind it.
    @inline(__always)
    func writeKey(_ key: Bytes) -> MutablePlace {
        let header = key.count < 255 ? 1 : 3
        if header == 1 {
            self[0] = UInt8(key.count)
        } else {
            self[0] = 255
            store16(key.count, 1)
        }
        (self + header).copy(from: key.place, count: key.count)
        return self + header + key.count
    }

    @inline(__always)
    var place: Place { unsafe Place(pointer) }

    @inline(__always)
    static func + (place: MutablePlace, offset: Int) -> MutablePlace {
        unsafe MutablePlace(place.pointer + offset)
    }

    @inline(__always)
    static func - (a: MutablePlace, b: MutablePlace) -> Int { unsafe a.pointer - b.pointer }
}
