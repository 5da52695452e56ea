import Glibc

/// Repeats a system call while a signal interrupts it (EINTR).
package func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// Writes all of `bytes` to an open file, which a failure calls `name`.
func writeAll(
    _ bytes: UnsafeRawBufferPointer,
    to descriptor: Int32,
    _ name: String
) throws(FileError) {
    var written = 0
    while written < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
        let count = retrying { write(descriptor, rest.baseAddress, rest.count) }
        guard count > 0 else { throw .system(call: "write", path: name, code: errno) }
        written += count
    }
}

/// The same for bytes that an array owns.
func writeAll(_ bytes: [UInt8], to descriptor: Int32, _ name: String) throws(FileError) {
    try bytes.withUnsafeBufferPointer { bytes throws(FileError) in
        try writeAll(UnsafeRawBufferPointer(bytes), to: descriptor, name)
    }
}
