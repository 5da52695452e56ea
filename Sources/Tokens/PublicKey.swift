import COpenSSL

/// An asymmetric key that checks signatures: RSA for `RS256` or P-256 for `ES256`.
package struct PublicKey: Sendable {
    /// The only algorithm this key checks, whatever a token's header claims.
    package let algorithm: Algorithm

    private let handle: KeyHandle

    init(_ algorithm: Algorithm, _ handle: KeyHandle) {
        self.algorithm = algorithm
        self.handle = handle
    }

    /// An RSA key from its big-endian numbers.
    ///
    /// - Returns: nil when the modulus is outside `TokenLimits.modulusBitCount`, or the exponent is even,
    ///   below 3 or wider than 32 bits.
    init?(modulus: [UInt8], exponent: [UInt8]) {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        guard let top = modulus.first,
            TokenLimits.modulusBitCount.contains(modulus.count * 8 - top.leadingZeroBitCount),
            exponent.count <= 4, let last = exponent.last, last & 1 == 1, exponent != [1],
            let handle = KeyHandle.rsa(modulus: modulus, exponent: exponent)
        else { return nil }
        self.init(.rs256, handle)
    }

    /// A P-256 key from the big-endian coordinates of its point, 32 bytes each.
    ///
    /// - Returns: nil when the sizes differ from 32 or the point is not on the curve.
    init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32, let handle = KeyHandle.p256(point: [4] + x + y)
        else { return nil }
        self.init(.es256, handle)
    }

    /// Whether `signature`, as JWS carries it, is this key's for `message`.
    func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard algorithm == .es256 else { return handle.verifies(signature, of: message) }
        guard let encoded = ECSignature.der(fromRaw: signature) else { return false }
        return handle.verifies(encoded, of: message)
    }
}
