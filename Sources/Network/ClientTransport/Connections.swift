#if canImport(CClientTransport)
    import CClientTransport
    import Dispatch
    import Glibc

    /// The connections of one transport; belongs to its thread.
    final class Connections {
        private let service: SocketService
        var times: SocketTimes { service.times }
        private let loop: OpaquePointer
        private var bySocket: [ObjectIdentifier: Connection] = [:]
        private var isReleased = false

        var isDone: Bool { isReleased && bySocket.isEmpty }

        init(of service: SocketService, on loop: OpaquePointer) {
            self.service = service
            self.loop = loop
        }

        func perform(_ command: SocketService.Command) {
            switch command {
            case .open(let socket): open(socket)
            case .found(let socket, let addresses, let reason):
                // Nil if the socket was closed or given up in the meantime.
                guard let connection = bySocket[ObjectIdentifier(socket)],
                    !connection.isLookedUp
                else { return }
                connection.isLookedUp = true
                connection.addresses = addresses
                if addresses.isEmpty { connection.finish(reason) } else { connection.connect() }
            case .look(let socket): bySocket[ObjectIdentifier(socket)]?.look()
            case .released: isReleased = true
            }
        }

        func forget(_ socket: LibwebsocketsSocket) { bySocket[ObjectIdentifier(socket)] = nil }

        func end(_ reason: String) {
            for connection in bySocket.values { connection.end(reason) }
        }

        private func open(_ socket: LibwebsocketsSocket) {
            let request = socket.request
            let endpoint = HostAndPort(request.host, defaultPort: request.isSecure ? 443 : 80)
            let connection = Connection(socket, at: endpoint, among: self, on: loop)
            bySocket[ObjectIdentifier(socket)] = connection
            guard let endpoint else {
                return connection.finish("\(request.host) is no host and port")
            }
            if let fault = connection.fault { return connection.finish(fault) }
            if Self.isNumeric(endpoint.name) {
                connection.isLookedUp = true
                connection.addresses = [endpoint.name]
                connection.connect()
            } else {
                look(up: endpoint.name, for: socket)
            }
        }

        private static func isNumeric(_ name: String) -> Bool {
            var room = in6_addr()
            return inet_pton(AF_INET, name, &room) == 1 || inet_pton(AF_INET6, name, &room) == 1
        }

        /// The system's lookup waits for the network, so it has a thread of the system's pool.
        private func look(up name: String, for socket: LibwebsocketsSocket) {
            let (service, limit) = (service, times.opening)
            let pool = DispatchQueue.global()
            pool.async {
                let (addresses, reason) = Self.addresses(of: name)
                service.post(.found(socket, addresses: addresses, reason: reason))
            }
            pool.asyncAfter(deadline: .now() + .milliseconds(Int(limit.milliseconds))) {
                [weak socket] in
                guard let socket else { return }
                let reason = "the host \(name) is not found within \(limit)"
                service.post(.found(socket, addresses: [], reason: reason))
            }
        }

        private static func addresses(of name: String) -> ([String], reason: String) {
            let size = Int(HEARTH_CLIENT_ADDRESS_SIZE)
            var room = [CChar](repeating: 0, count: SocketLimits.addressCount * size)
            var reason = [CChar](repeating: 0, count: Int(HEARTH_CLIENT_REASON_SIZE))
            let count = hearth_client_addresses(
                name,
                &room,
                Int32(SocketLimits.addressCount),
                &reason
            )
            let addresses = (0..<Int(count)).map { text(of: Array(room[($0 * size)...])) }
            return (addresses, text(of: reason))
        }
    }
#endif
