/// Why a text is not the name of a bucket or an object.
package enum NameFault: Error, Equatable, Sendable, CustomStringConvertible {
    case bucketLength(byteCount: Int)
    case bucketCharacter(UInt8, offset: Int)
    case bucketEnds
    case bucketPart
    case bucketAddress
    case bucketReserved
    case noName
    case nameTooLong(byteCount: Int)
    case nameEncoding(offset: Int)
    case nameCharacter(scalar: UInt32)
    case nameDots
    case nameReserved
    /// A client's SDK cannot address the name; libraries of servers can.
    case emptySegment
    case dotSegment

    /// What is wrong and what is right, for people.
    package var description: String {
        switch self {
        case .bucketLength(let byteCount):
            "A bucket name must have 3 to 63 characters, with dots up to 222; this one has \(byteCount)."
        case .bucketCharacter(let byte, let offset):
            "A bucket name must have a-z, 0-9, '-', '_' and '.' only; byte \(offset) is 0x\(String(byte, radix: 16))."
        case .bucketEnds: "A bucket name must begin and end with a-z or 0-9."
        case .bucketPart: "Each part of a bucket name between dots must have 1 to 63 characters."
        case .bucketAddress: "A bucket name must not look like an IP address."
        case .bucketReserved:
            "A bucket name must not begin with 'goog' or be batch, download, internal, storage or upload."
        case .noName: "An object name must not be empty."
        case .nameTooLong(let byteCount):
            "An object name must have at most 1024 bytes of UTF-8; this one has \(byteCount)."
        case .nameEncoding(let offset): "An object name must be UTF-8; byte \(offset) is not."
        case .nameCharacter(let scalar):
            "An object name must not have the character U+\(String(scalar, radix: 16, uppercase: true)): "
                + "controls, U+FFFE and U+FFFF are refused."
        case .nameDots: "An object name must not be '.' or '..'."
        case .nameReserved: "An object name must not begin with '.well-known/acme-challenge/'."
        case .emptySegment:
            "An object name must not begin or end with '/' or have '//' in it."
        case .dotSegment: "An object name must not have '.' or '..' between slashes."
        }
    }
}
