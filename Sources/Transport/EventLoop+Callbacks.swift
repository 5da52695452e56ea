import CTransport

extension EventLoop {
    /// The doors through which C enters: each finds its owner and is isolated from there on.
    ///
    /// A socket's owner is its `Connection`, retained for C from `accepted` until `closed`. A
    /// listener's owner is its `Listener`, which outlives the C listener it frees.
    static var callbacks: hearth_callbacks {
        hearth_callbacks(
            admits: { owner, peer in
                guard let owner, let peer else { return false }
                nonisolated(unsafe) let (unsafeOwner, unsafePeer) = (owner, peer)
                var isAdmitted = false
                LoopActor.assume {
                    EventLoop.shared.beginWork()
                    isAdmitted = Unmanaged<Listener>.fromOpaque(unsafeOwner)
                        .takeUnretainedValue().admits(unsafePeer.pointee)
                }
                return isAdmitted
            },
            accepted: { owner, socket, peer in
                guard let owner, let socket, let peer else { return nil }
                nonisolated(unsafe) let (unsafeOwner, unsafeSocket, unsafePeer) = (
                    owner, socket, peer
                )
                nonisolated(unsafe) var accepted: UnsafeMutableRawPointer?
                LoopActor.assume {
                    EventLoop.shared.beginWork()
                    let listener = Unmanaged<Listener>.fromOpaque(unsafeOwner).takeUnretainedValue()
                    let connection = listener.accept(
                        unsafeSocket,
                        from: Endpoint(unsafePeer.pointee)
                    )
                    accepted = connection.map { Unmanaged.passRetained($0).toOpaque() }
                }
                return accepted
            },
            accept_failed: { owner, errorNumber in
                guard let owner else { return }
                nonisolated(unsafe) let unsafeOwner = owner
                LoopActor.assume {
                    EventLoop.shared.beginWork()
                    Unmanaged<Listener>.fromOpaque(unsafeOwner).takeUnretainedValue()
                        .acceptFailed(errorNumber)
                }
            },
            received: { owner, bytes, byteCount in
                guard let owner else { return }
                nonisolated(unsafe) let unsafeOwner = owner
                nonisolated(unsafe) let buffer = UnsafeBufferPointer(start: bytes, count: byteCount)
                LoopActor.assume {
                    EventLoop.shared.beginWork()
                    Unmanaged<Connection>.fromOpaque(unsafeOwner).takeUnretainedValue()
                        .received(buffer)
                }
            },
            writable: { owner in
                guard let owner else { return }
                nonisolated(unsafe) let unsafeOwner = owner
                LoopActor.assume {
                    EventLoop.shared.beginWork()
                    Unmanaged<Connection>.fromOpaque(unsafeOwner).takeUnretainedValue().writable()
                }
            },
            closed: { owner in
                guard let owner else { return }
                nonisolated(unsafe) let unsafeOwner = owner
                LoopActor.assume {
                    EventLoop.shared.beginWork()
                    Unmanaged<Connection>.fromOpaque(unsafeOwner).takeRetainedValue().ended()
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

/// The address of one end of a connection.
struct Endpoint: Sendable {
    /// Numeric, without brackets or port.
    let address: String
    let port: Int
    /// Equal for addresses of one holder: an IPv4 address, or the first 64 bits of an IPv6 one.
    let network: UInt64

    init(address: String, port: Int, network: UInt64) {
        self.address = address
        self.port = port
        self.network = network
    }

    init(_ endpoint: hearth_endpoint) {
        address = withUnsafeBytes(of: endpoint.address) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        port = Int(endpoint.port)
        network = endpoint.network
    }
}
