import COpenSSL

/// Comparison whose duration does not reveal where two secrets differ.
package enum ConstantTime {
    /// Whether both are the same bytes; only the lengths may be learned from the duration.
    package static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        guard !one.isEmpty else { return true }
        return unsafe one.withUnsafeBytes { oneBytes in
            unsafe other.withUnsafeBytes { otherBytes in
                unsafe CRYPTO_memcmp(oneBytes.baseAddress, otherBytes.baseAddress, oneBytes.count)
                    == 0
            }
        }
    }
}
