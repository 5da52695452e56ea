import CArgon2

/// One computation of Argon2, by libargon2. Source: RFC 9106.
struct Argon2: Sendable, Equatable {
    var variant = Argon2Variant.id
    /// Whether it is version 0x13; else 0x10, which only hashes from elsewhere have.
    var isVersion13 = true
    var memoryKiB: Int
    var passes: Int
    var lanes = 1
    var associatedData: [UInt8] = []

    /// Bytes of a salt. Source: RFC 9106 section 3.1 asks for 16; libargon2 accepts no less than 8.
    static let saltByteCounts = 8...128
    /// Bytes of a hash: with fewer, strangers' passwords begin to fit.
    static let hashByteCounts = 16...128
    static let laneRange = 1...16

    /// Whether libargon2 accepts these parameters: others are refused before memory is allocated.
    var isWithinBounds: Bool {
        Self.laneRange.contains(lanes) && PasswordCost.passRange.contains(passes)
            && (8 * lanes...PasswordCost.memoryRange.upperBound).contains(memoryKiB)
    }

    /// The hash; nil without memory for it. In tests `allocate` replaces the system's memory.
    ///
    /// All lanes are worked through by the calling thread. The memory is overwritten before it is given back, which is
    /// libargon2's default.
    func hash(
        _ password: [UInt8],
        salt: [UInt8],
        byteCount: Int,
        allocate: allocate_fptr? = nil
    ) -> [UInt8]? {
        precondition(isWithinBounds, "the parameters are within their bounds")
        precondition(Self.saltByteCounts.contains(salt.count), "the salt has an allowed length")
        precondition(Self.hashByteCounts.contains(byteCount), "the hash has an allowed length")
        guard let passwordCount = UInt32(exactly: password.count) else { return nil }
        // libargon2 declares its inputs as mutable, although it changes none without a flag.
        var (password, salt, data) = (password, salt, associatedData)
        var hash = [UInt8](repeating: 0, count: byteCount)
        var context = argon2_context()
        context.outlen = UInt32(byteCount)
        context.pwdlen = passwordCount
        context.saltlen = UInt32(salt.count)
        context.adlen = UInt32(data.count)
        context.t_cost = UInt32(passes)
        context.m_cost = UInt32(memoryKiB)
        context.lanes = UInt32(lanes)
        context.threads = 1
        context.version = (isVersion13 ? ARGON2_VERSION_13 : ARGON2_VERSION_10).rawValue
        context.allocate_cbk = allocate
        if allocate != nil { context.free_cbk = { _, _ in } }
        let code = hash.withUnsafeMutableBufferPointer { out in
            password.withUnsafeMutableBufferPointer { password in
                salt.withUnsafeMutableBufferPointer { salt in
                    data.withUnsafeMutableBufferPointer { data in
                        context.out = out.baseAddress
                        context.pwd = password.baseAddress
                        context.salt = salt.baseAddress
                        context.ad = data.isEmpty ? nil : data.baseAddress
                        return argon2_ctx(&context, variant.type)
                    }
                }
            }
        }
        wipe(&password)
        return code == ARGON2_OK.rawValue ? hash : nil
    }
}

/// The ways through the memory that Argon2 has. Source: RFC 9106 section 3.4.1.3.
package enum Argon2Variant: String, Sendable, CaseIterable {
    case d = "argon2d"
    case i = "argon2i"
    case id = "argon2id"

    fileprivate var type: Argon2_type {
        switch self {
        case .d: Argon2_d
        case .i: Argon2_i
        case .id: Argon2_id
        }
    }
}
