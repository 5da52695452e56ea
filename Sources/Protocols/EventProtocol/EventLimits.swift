/// Hard limits of the plain event protocol.
///
/// The limits of the data itself (depth, key and string sizes) are `JSONTree.Limits`; how large a
/// frame and a reply may be, and how many observers a session may have, the server decides.
package enum EventLimits {
    /// Bytes of the JSON text of one query, which its observer keeps.
    package static let queryByteCount = 65_536

    /// The largest `limitToFirst` and `limitToLast`: clients count in 32 bits.
    package static let queryLimit = 2_147_483_647
}
