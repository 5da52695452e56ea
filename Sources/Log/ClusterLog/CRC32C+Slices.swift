package import WriteAheadLog

extension CRC32C {
    /// The checksum of these bytes, one run behind the other.
    package static func sum(_ runs: ArraySlice<UInt8>...) -> UInt32 {
        var checksum: UInt32 = 0
        for run in runs {
            checksum = unsafe run.withUnsafeBytes { unsafe update(checksum, $0) }
        }
        return checksum
    }
}
