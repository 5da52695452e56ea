import CZlib

/// The checksum of bytes that come in parts: CRC-32 as gzip has it.
package struct TextChecksum: Equatable, Sendable {
    private var value: UInt = 0

    /// Begins with no bytes.
    package init() {}

    /// Takes the next bytes.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // Without bytes, zlib would start the checksum again.
        guard let start else { return }
        value = crc32_z(value, start, bytes.count)
    }
}
