/// Reads integers, little-endian, and runs of bytes one after another, never beyond the end.
package struct ByteCursor {
    private let bytes: [UInt8]
    private(set) var offset: Int

    /// Begins to read at an offset.
    package init(_ bytes: [UInt8], at offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Whether everything was read.
    package var isAtEnd: Bool { offset == bytes.count }

    /// Bytes that were not read.
    var remainingByteCount: Int { bytes.count - offset }

    /// The next integer; nil, with nothing read, when fewer bytes are left.
    package mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        guard let run = run(Integer.bitWidth / 8) else { return nil }
        return run.reversed().reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
    }

    /// The next bytes; nil, with nothing read, when fewer are left.
    package mutating func run(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= remainingByteCount else { return nil }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }
}

extension [UInt8] {
    /// Appends an integer, little-endian.
    package mutating func append<Integer: FixedWidthInteger>(littleEndian value: Integer) {
        for shift in stride(from: 0, to: Integer.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
