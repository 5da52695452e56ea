/// The first byte of an encoded value.
///
///     value  := 01 false | 02 true | 03 i8 | 04 i32 | 05 i64 | 06 f64
///             | 07 n:u8 utf8 | 08 n:u32 utf8
///             | 09 map | 0A index:u16 (a value in a block of its own) | 0B priority value
///     map    := 09 size:u16 count:u16 offset:u16*count entry*count
///     entry  := n:u8 (FF: n:u16) key value
///     branch := 0C size:u16 count:u16 offset:u16*count (n key)*count
///
/// Little-endian. Offsets count from the map's first byte, so a map can be copied anywhere with one
/// memory copy. Entries are in key order and numbers and texts in their shortest form (a whole
/// double up to 2^53 is an integer), so equal values without references have equal bytes.
///
/// - A value is embedded in its parent's bytes if it takes at most `Size.embedded` bytes and has no
///   reference; else it is a block of its own and the entry says `0A`. An embedded map is therefore
///   pure bytes, and only top-level entries of a block hold references.
/// - References are numbered in the order of the entries that use them, each used once.
/// - A priority is a prefix of the entry's value; a priority may itself be `0A` (a long string).
///   No `0B` is inside a priority or directly inside another, and a `0A` never leads to one.
///   A node with a priority and no parent is a block that starts with `0B`.
/// - In a branch, references[i] is the page (or branch) that holds the keys from key i up to, and
///   without, key i + 1. Key 0 bounds nothing: it is the first key that the first page had when the
///   branch was made, and smaller keys go into that page without changing it. No search may use it,
///   no check compares it.
///
///       put k5 k6 ... until a page is cut       branch [k5 | k8]    k5 k6 k7 | k8 k9
///       put k1: the first page takes it         branch [k5 | k8]    k1 k5 k6 k7 | k8 k9
///       put k2 k3: the first page is cut        branch [k5 | k3 | k8]    k1 k2 | k3 k5 k6 k7 | k8 k9
enum TypeByte {
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let integer8: UInt8 = 3
    static let integer32: UInt8 = 4
    static let integer64: UInt8 = 5
    static let double: UInt8 = 6
    static let shortText: UInt8 = 7
    static let longText: UInt8 = 8
    static let map: UInt8 = 9
    static let reference: UInt8 = 10
    static let priority: UInt8 = 11
    static let branch: UInt8 = 12
}

/// Sizes of blocks, chosen by measurement.
enum Size {
    /// Bytes of a page before it is cut in two.
    static let page = 2048
    /// Bytes of the largest value kept inside its parent's block.
    static let embedded = page / 4
    /// Pages or branches below one branch, and references of a page before it is cut in two: every
    /// copy of a path counts each of them up, and later down again.
    static let fanOut = 16
    /// Bytes before the offsets of a map or branch.
    static let mapHeader = 5
}

extension BytePointer {
    /// Bytes of the value that starts here.
    var valueSize: Int {
        switch self[0] {
        case TypeByte.no, TypeByte.yes: 1
        case TypeByte.integer8: 2
        case TypeByte.integer32: 5
        case TypeByte.integer64, TypeByte.double: 9
        case TypeByte.shortText: 2 + Int(self[1])
        case TypeByte.longText: 5 + Int(load32(1))
        case TypeByte.map, TypeByte.branch: load16(1)
        case TypeByte.reference: 3
        case TypeByte.priority: prefixSize + (self + prefixSize).valueSize
        default: preconditionFailure("a block holds only known type bytes")
        }
    }

    /// Bytes before the value proper: those of a priority prefix, else 0.
    @inline(__always)
    var prefixSize: Int { self[0] == TypeByte.priority ? 1 + (self + 1).valueSize : 0 }

    /// References that the value starting here holds itself: of its priority and of its body.
    @inline(__always)
    var referencesUsed: Int {
        if self[0] == TypeByte.reference { return 1 }
        if self[0] != TypeByte.priority { return 0 }
        return (self[1] == TypeByte.reference ? 1 : 0)
            + (self[prefixSize] == TypeByte.reference ? 1 : 0)
    }

    /// The key of the entry that starts here.
    @inline(__always)
    var entryKey: Bytes {
        self[0] != 255 ? (self + 1).bytes(Int(self[0])) : (self + 3).bytes(load16(1))
    }
}

/// The entries of the map or branch that starts at `start`.
struct Entries {
    let start: BytePointer

    @inline(__always)
    init(_ start: BytePointer) { self.start = start }

    @inline(__always)
    var size: Int { start.load16(1) }

    @inline(__always)
    var count: Int { start.load16(3) }

    @inline(__always)
    var firstEntry: Int { Size.mapHeader + 2 * count }

    @inline(__always)
    func offset(_ index: Int) -> Int { start.load16(Size.mapHeader + 2 * index) }

    /// Where entry `index` ends.
    @inline(__always)
    func end(_ index: Int) -> Int { index + 1 < count ? offset(index + 1) : size }

    @inline(__always)
    func key(_ index: Int) -> Bytes { (start + offset(index)).entryKey }

    /// Where the value of entry `index` starts, its priority included.
    @inline(__always)
    func value(_ index: Int) -> BytePointer {
        let entry = start + offset(index)
        return entry[0] != 255 ? entry + 1 + Int(entry[0]) : entry + 3 + entry.load16(1)
    }

    /// The first index whose key is not below `key`, and whether it is that key.
    func search(_ key: Bytes) -> (index: Int, found: Bool) {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) >> 1
            let order = Key.compare(self.key(middle), key)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// The page of a branch where `key` belongs.
    @inline(__always)
    func page(for key: Bytes) -> Int {
        let (index, found) = search(key)
        return found ? index : max(0, index - 1)
    }

    /// References used by the entries before `index`: the number of its own first one.
    func referencesBefore(_ index: Int) -> Int {
        var total = 0
        for entry in 0..<index { total += value(entry).referencesUsed }
        return total
    }
}

/// Bytes of `n key` in an entry.
@inline(__always)
func entryHeaderSize(_ keyByteCount: Int) -> Int {
    keyByteCount < 255 ? 1 + keyByteCount : 3 + keyByteCount
}
