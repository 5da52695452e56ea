package import HTTPClient

/// What a broker says of itself at its monitoring address.
package struct BrokerFacts: Equatable, Sendable {
    /// `http://10.0.0.1:8222`
    package let address: String
    /// `server_name` of its configuration.
    package let name: String
    /// `2.15.1`
    package let version: String
    /// Whether an entry is on its disk before it answers.
    package let isSynced: Bool
    let id: String
    let isJetStreamOn: Bool
    /// Brokers of its cluster; 1 for a single one.
    let clusterSize: Int
    let messageByteLimit: Int
    let storedByteCount: Int
    /// Negative for no limit.
    let storedByteLimit: Int

    /// Reads the answer to `/varz`.
    ///
    /// - Throws: `BrokerFault.notABroker`.
    init(_ body: [UInt8], at address: String) throws(BrokerFault) {
        guard let reply = BrokerReply(body), let id = reply["server_id"].text,
            let version = reply["version"].text
        else {
            throw .notABroker(address: address, detail: "'/varz' there has no broker's answer")
        }
        self.address = address
        self.id = id
        self.version = version
        name = reply["server_name"].text ?? id
        let jetStream = reply["jetstream"]
        let settings = jetStream["config"]
        isJetStreamOn = !settings.isAbsent
        isSynced = settings["sync_always"].isTrue
        clusterSize = Int(jetStream["meta"]["cluster_size"].integer ?? 1)
        messageByteLimit = Int(reply["max_payload"].integer ?? 0)
        storedByteCount = Int(jetStream["stats"]["storage"].integer ?? 0)
        storedByteLimit = Int(settings["max_storage"].integer ?? -1)
    }

    /// Why this broker cannot carry a log. `requiresSync`: an acknowledged entry must be on its disk.
    func faults(requiresSync: Bool) -> [BrokerFault] {
        var faults: [BrokerFault] = []
        let place = "the broker \(name)"
        if BrokerVersion(version).map(\.isSafe) != true {
            faults.append(.version(broker: name, version: version))
        }
        guard isJetStreamOn else { return faults + [.noJetStream(place: place)] }
        if requiresSync && !isSynced { faults.append(.notSynced(broker: name)) }
        if messageByteLimit < JetStreamLimits.messageByteCount {
            faults.append(.smallMessages(place: place, byteLimit: messageByteLimit))
        }
        if storedByteLimit >= 0,
            storedByteCount + JetStreamLimits.entryByteCount > storedByteLimit
        {
            let detail = "\(storedByteCount) of \(storedByteLimit) bytes are used"
            faults.append(.full(place: place, detail: detail))
        }
        return faults
    }
}

/// Looks at brokers through their monitoring addresses.
package enum BrokerMonitor {
    /// Bytes of an answer that are read.
    private static let answerByteCount = 1 << 20

    /// Asks each broker what it is, one after the other. Waits as long as `http` lets it.
    ///
    /// - Parameters:
    ///   - addresses: `http://10.0.0.1:8222`, one of each broker.
    ///   - requiresSync: Whether brokers must have an entry on their disk before they answer.
    ///   - http: Times, and the file of authorities.
    /// - Returns: What each broker that answered says of itself, and all that is wrong.
    package static func check(
        _ addresses: [String],
        requiresSync: Bool,
        http: HTTPOptions
    ) -> (facts: [BrokerFacts], faults: [BrokerFault]) {
        var facts: [BrokerFacts] = []
        var faults: [BrokerFault] = []
        for address in addresses {
            do throws(BrokerFault) {
                let found = try read(address, http)
                // One broker may have several addresses; it counts once.
                guard !facts.contains(where: { $0.id == found.id }) else { continue }
                facts.append(found)
                faults += found.faults(requiresSync: requiresSync)
            } catch {
                faults.append(error)
            }
        }
        let brokerCount = facts.map(\.clusterSize).max() ?? 0
        if facts.count < brokerCount, addresses.count < brokerCount || faults.isEmpty {
            faults.append(.unmonitored(monitoredCount: facts.count, brokerCount: brokerCount))
        }
        return (facts, faults)
    }

    private static func read(_ address: String, _ http: HTTPOptions) throws(BrokerFault)
        -> BrokerFacts
    {
        let response: HTTPResponse
        do {
            var request = HTTPRequest(.get, "\(address)/varz")
            request.keptByteLimit = answerByteCount
            response = try HTTPClient(http).perform(request)
        } catch {
            let detail = (error as? HTTPError)?.detail ?? "\(error)"
            throw .noMonitor(address: address, detail: detail)
        }
        guard response.isSuccess else {
            throw .notABroker(address: address, detail: "'/varz' there answers \(response.status)")
        }
        return try BrokerFacts(response.body, at: address)
    }
}
