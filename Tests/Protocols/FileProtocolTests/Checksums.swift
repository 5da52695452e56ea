import WriteAheadLog

/// The CRC-32C of texts one behind the other, as the server's workers make it.
func checksumOf(_ parts: String...) -> UInt32 {
    parts.reduce(0) { sum, part in
        Array(part.utf8).withUnsafeBytes { CRC32C.update(sum, $0) }
    }
}
