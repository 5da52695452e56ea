/// A growing block of bytes that is written as a whole and used again.
///
/// Owns its memory from `init` to `deinit`; pointers from `bytes` are valid until the next call that changes the
/// buffer, and only while the buffer itself is alive: where it is a local, use `withBytes`, since Swift may release a
/// local after its last use. Integers are stored little-endian.
final class ByteBuffer {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    /// Bytes in use.
    private(set) var count = 0

    init(capacity: Int = 4096) {
        base = .allocate(byteCount: capacity, alignment: 16)
        self.capacity = capacity
    }

    deinit {
        base.deallocate()
    }

    /// The bytes in use.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Passes the bytes in use and keeps the buffer alive during the call.
    func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(bytes)
    }

    /// The bytes in use from an offset on.
    func bytes(from offset: Int) -> UnsafeRawBufferPointer {
        precondition(offset <= count, "a range of the buffer lies within it")
        return UnsafeRawBufferPointer(start: base + offset, count: count - offset)
    }

    /// The bytes in use, writable; `count` first becomes `newCount`, new bytes being undefined.
    func resize(to newCount: Int) -> UnsafeMutableRawBufferPointer {
        grow(to: newCount)
        count = newCount
        return UnsafeMutableRawBufferPointer(start: base, count: count)
    }

    /// Forgets all bytes, and the memory above `limit` that one large use left behind.
    func removeAll(keepingAtMost limit: Int) {
        count = 0
        guard capacity > limit else { return }
        base.deallocate()
        base = .allocate(byteCount: limit, alignment: 16)
        capacity = limit
    }

    /// Makes room for more bytes.
    func reserve(_ byteCount: Int) {
        grow(to: count + byteCount)
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        grow(to: count + bytes.count)
        (base + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    func append<Integer: FixedWidthInteger>(_ value: Integer) {
        grow(to: count + MemoryLayout<Integer>.size)
        base.storeBytes(of: value.littleEndian, toByteOffset: count, as: Integer.self)
        count += MemoryLayout<Integer>.size
    }

    func appendZeros(_ zeroCount: Int) {
        grow(to: count + zeroCount)
        (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: zeroCount)
        count += zeroCount
    }

    /// Overwrites an integer that was appended before.
    func store<Integer: FixedWidthInteger>(_ value: Integer, at offset: Int) {
        precondition(offset + MemoryLayout<Integer>.size <= count, "a store lies within the buffer")
        base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Integer.self)
    }

    private func grow(to needed: Int) {
        guard needed > capacity else { return }
        let newCapacity = max(needed, capacity * 2)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        grown.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = grown
        capacity = newCapacity
    }
}

extension UnsafeRawBufferPointer {
    /// A little-endian integer; the caller has checked that it lies within the buffer.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, at offset: Int) -> Integer {
        Integer(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// Whether all bytes are zero, read eight at a time.
    var isAllZero: Bool {
        var offset = 0
        while offset + 8 <= count {
            guard loadUnaligned(fromByteOffset: offset, as: UInt64.self) == 0 else { return false }
            offset += 8
        }
        while offset < count {
            guard self[offset] == 0 else { return false }
            offset += 1
        }
        return true
    }
}
