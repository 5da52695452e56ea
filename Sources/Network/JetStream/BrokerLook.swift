#if Cluster
    /// A look at what brokers hold, by a connection as a node makes it. Changes nothing.
    package enum BrokerLook {
        /// Connects to the first broker that answers, and asks for the log. Waits.
        ///
        /// - Returns: The first and the last entry, last + 1 and last when there is none; nil when there is no log yet.
        /// - Throws: `BrokerFault`: no connection, refused credentials, a certificate that is not trusted.
        package static func bounds(
            _ configuration: JetStreamConfiguration
        ) throws(BrokerFault) -> (first: UInt64, last: UInt64)? {
            let events = LinkEvents(
                stream: configuration.stream,
                deliver: { _ in },
                failed: { _ in },
                closed: {},
                interrupted: { _ in }
            )
            let connection = try BrokerConnection(configuration, number: 1, events)
            do throws(BrokerFault) { return try connection.bounds() } catch {
                if case .noStream = error { return nil }
                throw error
            }
        }
    }
#endif
