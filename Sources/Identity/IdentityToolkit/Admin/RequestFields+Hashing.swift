import JSONTree
import Passwords

extension RequestFields {
    /// How the passwords of a batch are hashed. Source: Identity Toolkit API, `accounts.batchCreate`.
    ///
    /// - Throws: `INVALID_HASH_ALGORITHM` for one that is not known, or with parameters that no password can be checked
    ///   with.
    func importedHashing() throws(IdentityError) -> ImportedHashing {
        let name = try text("hashAlgorithm") ?? ""
        guard let algorithm = ImportedHashing.Algorithm(rawValue: name) else {
            let names = ImportedHashing.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw .code(
                .invalidHashAlgorithm,
                "hashAlgorithm '\(name.prefix(64))' is none of \(names)."
            )
        }
        var hashing = ImportedHashing(algorithm)
        hashing.signerKey = try bytes("signerKey")
        hashing.saltSeparator = try bytes("saltSeparator")
        hashing.rounds = try count("rounds")
        hashing.memoryCost = try count(algorithm == .standardScrypt ? "cpuMemCost" : "memoryCost")
        hashing.parallelization = try count("parallelization")
        hashing.blockSize = try count("blockSize")
        hashing.derivedKeyLength = try count("dkLen")
        switch try text("passwordHashOrder") {
        case nil, "UNSPECIFIED_ORDER": break
        case .some(let name):
            guard let order = ImportedHashing.Order(rawValue: name) else {
                throw .invalidPayload("Invalid value at 'passwordHashOrder'.")
            }
            hashing.order = order
        }
        if algorithm == .argon2 {
            try RequestFields(node("argon2Parameters")).setArgon2(&hashing)
        }
        if let fault = hashing.fault { throw .code(.invalidHashAlgorithm, "\(fault).") }
        return hashing
    }

    private func setArgon2(_ hashing: inout ImportedHashing) throws(IdentityError) {
        hashing.memoryCost = try count("memoryCostKib")
        hashing.rounds = try count("iterations")
        hashing.parallelization = try count("parallelism")
        hashing.derivedKeyLength = try count("hashLengthBytes")
        hashing.associatedData = try bytes("associatedData")
        switch try text("hashType") {
        case "ARGON2_D": hashing.variant = .d
        case "ARGON2_I": hashing.variant = .i
        case "ARGON2_ID": hashing.variant = .id
        default: throw .code(.invalidHashAlgorithm, "hashType is no kind of Argon2.")
        }
        switch try text("version") {
        case nil, "VERSION_13": hashing.isVersion13 = true
        case "VERSION_10": hashing.isVersion13 = false
        default: throw .code(.invalidHashAlgorithm, "version is no version of Argon2.")
        }
    }

    private func bytes(_ name: String) throws(IdentityError) -> [UInt8] {
        guard let bytes = Base64.decode(try text(name) ?? "") else {
            throw .code(.invalidHashAlgorithm, "\(name) is no base64.")
        }
        return bytes
    }

    /// A number that fits any machine; 0 when it is not there.
    private func count(_ name: String) throws(IdentityError) -> Int {
        let number = try integer(name) ?? 0
        guard (0...Int64(Int32.max)).contains(number) else {
            throw .code(.invalidHashAlgorithm, "\(name) is out of bounds.")
        }
        return Int(number)
    }
}
