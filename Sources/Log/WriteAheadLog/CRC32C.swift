/// CRC-32C (Castagnoli polynomial, reflected 0x82F63B78), 16 bytes a step by tables.
///
/// Source: RFC 3720 appendix B.4 for polynomial and vectors; Kounavis and Berry, "Novel table lookup-based algorithms
/// for high-performance CRC generation" for the slicing. The tables take 16 KiB and stay in the first-level cache.
package enum CRC32C {
    private static let slices = makeSlices()

    /// The checksum of `bytes` continued from `crc`; 0 starts a new one.
    ///
    /// Continuing composes: `update(update(0, a), b)` is the checksum of a followed by b.
    package static func update(_ crc: UInt32, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard let start = bytes.baseAddress else { return crc }
        return slices.withUnsafeBufferPointer { slices in
            guard let table = slices.baseAddress else { return crc }
            return run(~crc, start, bytes.count, table)
        }
    }

    private static func run(
        _ start: UInt32,
        _ bytes: UnsafeRawPointer,
        _ count: Int,
        _ table: UnsafePointer<UInt32>
    ) -> UInt32 {
        var crc = start
        var offset = 0
        while offset &+ 16 <= count {
            let low = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
            let high = bytes.loadUnaligned(fromByteOffset: offset &+ 8, as: UInt64.self)
                .littleEndian
            crc = fold(low ^ UInt64(crc), table + 8 * 256) ^ fold(high, table)
            offset &+= 16
        }
        while offset < count {
            let byte = bytes.load(fromByteOffset: offset, as: UInt8.self)
            crc = table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8)
            offset &+= 1
        }
        return ~crc
    }

    /// The eight table steps of one word; `table` is the slice of its last (highest) byte.
    @inline(__always)
    private static func fold(_ word: UInt64, _ table: UnsafePointer<UInt32>) -> UInt32 {
        let first = table[7 * 256 &+ Int(word & 0xFF)] ^ table[6 * 256 &+ Int(word >> 8 & 0xFF)]
        let second =
            table[5 * 256 &+ Int(word >> 16 & 0xFF)] ^ table[4 * 256 &+ Int(word >> 24 & 0xFF)]
        let third =
            table[3 * 256 &+ Int(word >> 32 & 0xFF)] ^ table[2 * 256 &+ Int(word >> 40 & 0xFF)]
        let fourth = table[256 &+ Int(word >> 48 & 0xFF)] ^ table[Int(word >> 56)]
        return first ^ second ^ third ^ fourth
    }

    /// Slice s, byte b: the checksum of b followed by s zero bytes.
    private static func makeSlices() -> [UInt32] {
        var slices = [UInt32](repeating: 0, count: 16 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
            slices[byte] = crc
        }
        for index in 256..<slices.count {
            let previous = slices[index - 256]
            slices[index] = slices[Int(previous & 0xFF)] ^ previous >> 8
        }
        return slices
    }
}
