import CTransport

extension EventLoop {
    /// The functions that C calls: each finds its owner and is isolated from there on.
    ///
    /// A socket's owner is its `Connection`, which C retains from `accepted` until `closed`. A listener's owner is
    /// its `Listener`, which outlives the C listener it frees.
    static var callbacks: hearth_callbacks {
        hearth_callbacks(
            admits: { owner, peer in
                guard let peer = peer?.pointee else { return false }
                var isAdmitted = false
                perform(owner) { (listener: Listener) in isAdmitted = listener.admits(peer) }
                return isAdmitted
            },
            accepted: { owner, socket, peer in
                guard let socket, let peer = peer?.pointee else { return nil }
                nonisolated(unsafe) let unsafeSocket = socket
                nonisolated(unsafe) var accepted: UnsafeMutableRawPointer?
                perform(owner) { (listener: Listener) in
                    let connection = listener.accept(unsafeSocket, from: Endpoint(peer))
                    accepted = connection.map { Unmanaged.passRetained($0).toOpaque() }
                }
                return accepted
            },
            accept_failed: { owner, errorNumber in
                perform(owner) { (listener: Listener) in listener.acceptFailed(errorNumber) }
            },
            // A step of a TLS handshake is work too, and has no other callback.
            serves: { LoopActor.assume { EventLoop.shared.beginWork() } },
            received: { owner, bytes, byteCount in
                nonisolated(unsafe) let buffer = UnsafeBufferPointer(start: bytes, count: byteCount)
                perform(owner) { (connection: Connection) in connection.received(buffer) }
            },
            writable: { owner in
                perform(owner) { (connection: Connection) in connection.writable() }
            },
            closed: { owner in
                perform(owner) { (connection: Connection) in
                    connection.ended()
                    Unmanaged.passUnretained(connection).release()
                }
            },
            signalled: { number in
                LoopActor.assume {
                    EventLoop.shared.beginWork()
                    EventLoop.shared.signalled(number)
                }
            }
        )
    }
}

/// Calls `body` with the owner that C has kept. No method: a C function captures nothing.
private func perform<Owner: AnyObject>(
    _ owner: UnsafeMutableRawPointer?,
    _ body: @LoopActor (Owner) -> Void
) {
    guard let owner else { return }
    nonisolated(unsafe) let unsafeOwner = owner
    LoopActor.assume {
        EventLoop.shared.beginWork()
        body(Unmanaged<Owner>.fromOpaque(unsafeOwner).takeUnretainedValue())
    }
}

/// The address of one end of a connection.
package struct Endpoint: Sendable {
    /// Numeric, without brackets or port.
    let address: String
    let port: Int
    /// Equal for addresses of one holder: an IPv4 address, or the first 64 bits of an IPv6 address.
    let network: UInt64

    /// Puts the other end of a connection together.
    package init(address: String, port: Int, network: UInt64) {
        self.address = address
        self.port = port
        self.network = network
    }
}

extension Endpoint {
    init(_ endpoint: hearth_endpoint) {
        let address = withUnsafeBytes(of: endpoint.address) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(address: address, port: Int(endpoint.port), network: endpoint.network)
    }
}
