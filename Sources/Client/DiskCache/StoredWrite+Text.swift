import JSONTree
import SyncCore
import WireProtocol

/// Writes and listens are stored as the requests to the server for them: one format, read with all the checks of the
/// server.
extension StoredWrite {
    var text: [UInt8] { ClientRequest(number: 0, action: action()).encoded() }

    init?(text: [UInt8]) {
        switch request(in: text) {
        case .put(let target, let draft, nil): self = .set(target, draft)
        case .merge(let path, let entries, nil): self = .update(path, entries)
        default: return nil
        }
    }

    /// About the bytes of memory that it holds.
    var byteCount: Int {
        switch self {
        case .set(_, let draft): 256 + draft.node.encodingByteCount
        case .update(_, let entries):
            entries.reduce(256) { $0 + 256 + $1.draft.node.encodingByteCount }
        }
    }
}

extension ListenTarget {
    /// The request that listens to it; equal targets have equal ones.
    var text: [UInt8] {
        ClientRequest(number: 0, action: .listen(self, tag: nil, hash: nil)).encoded()
    }

    init?(text: [UInt8]) {
        guard case .listen(let target, nil, nil) = request(in: text) else { return nil }
        self = target
    }
}

private func request(in text: [UInt8]) -> ClientRequest.Action? {
    // The caller counts what cannot be read, for any reason.
    guard case .request(let request)? = try? ClientMessage.parse(text) else { return nil }
    return request.action
}

extension Node {
    var encoding: [UInt8] {
        var bytes: [UInt8] = []
        appendEncoding(to: &bytes)
        return bytes
    }

    init?(encoding: [UInt8]) {
        do { self = try encoding.withBytes { bytes in try Node(decoding: bytes) } } catch {
            return nil
        }
    }
}

/// FNV-1a of 64 bits: finds damage, not malice.
func checksum(_ bytes: [UInt8], _ seed: Int64) -> Int64 {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bitPattern: seed)
    for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int64(bitPattern: sum)
}
