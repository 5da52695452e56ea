/// Hard limits of the data tree.
///
/// Sources: Firebase Realtime Database, "Usage and limits"; the checks of its JavaScript SDK.
package enum Limits {
    /// Keys in one path; the root has 0.
    package static let depth = 32

    /// Bytes of UTF-8 in one key.
    package static let keyByteCount = 768

    /// Bytes of UTF-8 in one string, 10 MiB.
    package static let stringByteCount = 10 * 1024 * 1024

    /// Brackets that may be open at once in JSON text that is skipped, not stored.
    ///
    /// Far above anything that can be stored (32 keys), far below depths that cost memory.
    package static let textNesting = 1_000

    /// Levels of maps in bytes read back from a log or a checkpoint.
    ///
    /// A guard against damaged bytes: releasing and checking recurse once a level.
    package static let encodingDepth = 1_000
}
