import Glibc

/// The addresses by which other machines of a network reach this one.
enum NetworkHosts {
    /// IPv4 addresses of interfaces that are up, loopback left out, in the system's order: `192.168.1.5`.
    static func own() -> [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        // Without the list the ready line names no address of the network; the server runs all the same.
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var hosts: [String] = []
        var next = first
        while let interface = next?.pointee {
            if let host = host(of: interface) { hosts.append(host) }
            next = interface.ifa_next
        }
        return hosts
    }

    private static func host(of interface: ifaddrs) -> String? {
        guard interface.ifa_flags & UInt32(IFF_UP) != 0,
            interface.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
            let address = interface.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET)
        else { return nil }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = getnameinfo(
            address,
            length,
            &text,
            socklen_t(text.count),
            nil,
            0,
            NI_NUMERICHOST
        )
        return outcome == 0
            ? String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            : nil
    }
}
