/// The addresses that begin alike: `10.0.0.0/8`, `::1`.
struct AddressRange: Equatable, Sendable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]
    /// Leading bits that count.
    let bitCount: Int

    /// Reads an address, or one with `/` and the number of leading bits that count; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = Self.bytes(String(parts[0])) else { return nil }
        var bitCount = bytes.count * 8
        if parts.count == 2 {
            // Int takes a sign.
            guard parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let count = Int(parts[1]),
                (0...bitCount).contains(count)
            else { return nil }
            bitCount = count
        }
        self.bytes = bytes
        self.bitCount = bitCount
    }

    /// Whether an address, without brackets, is one of them.
    func contains(_ address: String) -> Bool {
        guard let other = Self.bytes(address), other.count == bytes.count else { return false }
        for bit in 0..<bitCount {
            let mask = UInt8(0x80) >> UInt8(bit % 8)
            if bytes[bit / 8] & mask != other[bit / 8] & mask { return false }
        }
        return true
    }

    /// An IPv4 address that is written as an IPv6 one is the IPv4 address.
    private static func bytes(_ text: String) -> [UInt8]? {
        switch Authority.Host(text.contains(":") ? "[\(text)]" : text) {
        case .ipv4(let bytes): return bytes
        case .ipv6(let bytes): return Authority.Host.ipv4(mappedTo: bytes) ?? bytes
        case .name, nil: return nil
        }
    }
}
