import ClusterLog
import DatabaseCore
import Glibc
import JSONTree
import Logging
import Transport
import WireProtocol

/// This node among those of its group: what it may answer, and where clients are sent while another one owns the group.
///
///     following ──owned──► leading ──deposed──► the process ends, and starts as one that follows
@LoopActor
final class ClusterService: Service {
    let server: Server
    private let settings: ClusterSettings
    /// Whether this node owns the group, and serves.
    private(set) var leads = false
    private(set) var status: ClusterStatus?
    private(set) var fault: LogFault?
    private var isStalled = false
    /// Whether another node was heard under this one's name.
    private var isNameTaken = false
    /// How many commits of the group this node has.
    let position = GroupPosition()
    /// Sends requests of clients to the owner; nil without a secret that shows who relays, as are the next two.
    private(set) lazy var relay = makeRelay()
    /// Asks the owner how many commits there are.
    private(set) lazy var question = makeQuestion()
    /// Sessions at the owner for those of clients of this node.
    private(set) lazy var ownerSessions = makeOwnerSessions()
    /// From where nodes of the group have sent requests.
    var nodeAddresses: Set<String> = []
    /// Requests that were sent to the owner.
    var relayedCount = 0
    /// Of the files of rules that are in force.
    private var rulesDigest: UInt64 = 0
    /// Seconds for which this node is behind the owner, and for which it hears none.
    var behindSeconds = 0
    var ownerlessSeconds = 0
    /// Whether a node says another one.
    private var rulesDiffer = false
    /// The text of the log whose keys are in force, or are being sealed.
    var keysInForce: String?
    /// Whether the log has to get this node's keys.
    var keysAreDue = false
    /// Called once this node owns the group.
    private var whenLeading: (@LoopActor () -> Void)?

    /// The exit code of a node that lost the group: the system's EX_TEMPFAIL. A service manager starts it again.
    nonisolated static let deposedExitCode: Int32 = 75

    init(_ server: Server, _ settings: ClusterSettings) {
        self.server = server
        self.settings = settings
    }

    /// Whether clients may stay at this node while another one owns the group.
    var servesClients: Bool { settings.secretFile != nil }

    private func makeRelay() -> OwnerRelay? {
        guard servesClients else { return nil }
        return OwnerRelay(
            authorityFile: settings.authorityFile,
            byteLimit: configuration.limits.responseByteCount + 1 << 20
        )
    }

    private func makeOwnerSessions() -> OwnerSessions? {
        servesClients ? OwnerSessions(self, authorityFile: settings.authorityFile) : nil
    }

    private func makeQuestion() -> OwnerQuestion? {
        guard servesClients else { return nil }
        let relay = OwnerRelay(
            authorityFile: settings.authorityFile,
            byteLimit: 1_024,
            threadCount: 1,
            totalSeconds: 2
        )
        return OwnerQuestion(position) { [self] report in
            guard let ownerAddress, let words = relayWords, let get = OwnerRelay.Method("GET")
            else { return false }
            let errand = OwnerRelay.Errand(
                method: get,
                url: ownerAddress + OwnerQuestion.path,
                headers: ["\(GroupSecret.relayHeader): \(words)"],
                body: []
            ) { result in
                guard case .success(let answer) = result, answer.status == 200 else {
                    return report(nil)
                }
                report(UInt64(String(decoding: answer.body.dropLast(), as: UTF8.self)))
            }
            return relay.post(errand)
        }
    }

    /// Follows the group until this node owns it; `lead` is called then, once.
    func begin(lead: @escaping @LoopActor () -> Void) {
        whenLeading = lead
        engine.beginFollowing()
        server.identity.trustServiceAccounts()
        beginKeys()
        rulesDigest = server.files.rulesDigest
        log.notice(
            "follows its group",
            metadata: ["node": "\(settings.node)", "address": "\(settings.address)"]
        )
    }

    // MARK: - What the log thread says

    /// Applies commits of another owner.
    func entered(_ commits: [CommitRecord]) {
        do throws(CommitDecodingError) {
            for commit in commits {
                var effects: [Effect] = []
                let changed = try engine.enter(commit, effects: &effects)
                server.perform(effects)
                server.durability.entered(commit)
                if commit.database == .accounts { server.identity.changed(changed) }
            }
            if commits.contains(where: { $0.database == .accounts }) { followKeys() }
        } catch {
            log.critical(
                "a commit of the shared log cannot be applied, so the node stops: \(error)"
            )
            _exit(failedLogExitCode)
        }
    }

    /// This node owns the group from here on.
    func owned() {
        leads = true
        question?.owned()
        log.notice("owns its group", metadata: ["node": "\(settings.node)"])
        whenLeading?()
        whenLeading = nil
        shareKeys()
    }

    /// The shared log takes nothing, or does so again.
    func stalled(_ isStalled: Bool) {
        self.isStalled = isStalled
        if isStalled {
            log.warning("the shared log takes no commits: most brokers are away or choose a leader")
        } else {
            log.notice("the shared log takes commits again")
        }
    }

    /// The shared log cannot be followed further: nothing may be answered from here on.
    func stopped(_ fault: LogFault) {
        log.critical("this node serves nothing from now on: \(fault)")
        // What this node has decided and the log does not hold is with it alone.
        if leads { _exit(Self.deposedExitCode) }
        self.fault = fault
    }

    /// Files of rules were read again.
    func rulesChanged() {
        rulesDigest = server.files.rulesDigest
        commits.rulesChanged(digest: rulesDigest)
    }

    /// How things stand.
    func noted(_ status: ClusterStatus) {
        if let owner = status.owner, owner.sender != self.status?.owner?.sender {
            log.notice(
                "follows an owner",
                metadata: ["address": "\(owner.details.clientAddress)"]
            )
        }
        if status.nodes.contains(where: { $0.sender.node.value == settings.nodeNumber }),
            !isNameTaken
        {
            isNameTaken = true
            log.critical(
                "another process beats under the name of this node: give each its own --cluster-node",
                metadata: ["node": "\(settings.node)"]
            )
        }
        self.status = status
        compareRules()
    }

    /// Rules in files are this node's own: others must have the same, since any of them may own the group.
    private func compareRules() {
        let others = status?.nodes.filter { $0.details.rulesDigest != rulesDigest } ?? []
        guard others.isEmpty == rulesDiffer else { return }
        rulesDiffer.toggle()
        guard let other = others.first else {
            return log.notice("all nodes have the same files of rules again")
        }
        log.error(
            "the files of rules differ from those of another node: give each node the same",
            metadata: ["address": "\(other.details.clientAddress)"]
        )
    }

    /// Ends the process when the shared log does not take what is left within the time to drain, and so much again.
    func limitStop(to limit: Duration) {
        EventLoop.shared.after(limit * 2) { [self] in
            log.critical(
                "the shared log did not take the last commits; they were never acknowledged",
                metadata: ["commits": "\(commits.waitingCount)"]
            )
            _exit(Self.deposedExitCode)
        }
    }

    /// Whether another node could own the group.
    var hasFollower: Bool { status?.nodes.contains { $0.role == .following } ?? false }

    /// Where a copy of this node's data stands in the shared log, which keeps what follows until the copy's node is heard;
    /// nil while that is not known.
    func markOfCopy() -> LogMark? {
        guard let mark = status?.mark else { return nil }
        commits.keep(after: mark.sequence)
        return mark
    }

    // MARK: - The door

    /// Where the owner is reached, `http://HOST:PORT`; nil when this node does not know.
    var ownerAddress: String? { status?.owner?.details.clientAddress }

    /// The same without its scheme.
    var ownerHost: String? {
        ownerAddress.map { address in String(address.drop { $0 != "/" }.drop { $0 == "/" }) }
    }

    /// Sends a client of the wire protocol to the owner.
    func redirect(_ socket: WebSocketConnection) {
        if let ownerHost {
            socket.send(SharedFrame(text: ServerMessage.reset(host: ownerHost).encoded()))
        }
        socket.close(code: 1001, reason: "Another node owns the group")
    }

    /// The answer of readiness; nil for the owner, which answers as every server does.
    var readiness: HTTPResponse? {
        if leads { return nil }
        if let fault { return .plain(503, "stopped: \(fault)\n") }
        guard let ownerAddress else { return .plain(503, "follower, no owner\n") }
        return .plain(servesClients ? 200 : 503, "follower of \(ownerAddress)\n")
    }

    // MARK: - Figures

    /// How the group stands, as this node sees it: `{node, address, role, stalled, rules, rulesDiffer, epoch, commit, sequence,
    /// owner?, waitingBytes, fault?, nodes: [{address, role, epoch, commit, sequence, rules}]}`; `rules` is a digest of the
    /// files of rules, 16 hexadecimal digits.
    var description: JSONValue {
        var members: [JSONValue.Member] = [
            .init("node", .string(settings.node)), .init("address", .string(settings.address)),
            .init("role", .string(fault != nil ? "stopped" : leads ? "owner" : "follower")),
            .init("stalled", .boolean(isStalled)), .init("rules", .string(rulesDigest.hexadecimal)),
            .init("rulesDiffer", .boolean(rulesDiffer)),
        ]
        if let fault { members.append(.init("fault", .string("\(fault)"))) }
        let owner = leads ? settings.address : ownerAddress
        if let owner { members.append(.init("owner", .string(owner))) }
        guard let status else { return .object(members) }
        members += [
            .init("epoch", .integer(Int64(clamping: status.mark.epoch))),
            .init("commit", .integer(Int64(clamping: status.mark.commit))),
            .init("sequence", .integer(Int64(clamping: status.sequence))),
            .init("waitingBytes", .integer(Int64(status.waitingByteCount))),
            .init("nodes", .list(status.nodes.map(\.description))),
        ]
        return .object(members)
    }

    func addMetrics(to metrics: inout Metrics) {
        metrics.gauge("hearth_cluster_owner", "1 while this node owns its group.", leads ? 1 : 0)
        metrics.gauge(
            "hearth_cluster_stopped",
            "1 when the shared log cannot be followed further.",
            fault == nil ? 0 : 1
        )
        metrics.gauge(
            "hearth_cluster_stalled",
            "1 while the shared log takes no commits.",
            isStalled ? 1 : 0
        )
        metrics.gauge(
            "hearth_cluster_rules_differ",
            "1 while another node has other files of rules.",
            rulesDiffer ? 1 : 0
        )
        metrics.gauge(
            "hearth_cluster_owner_sessions",
            "Sessions at the owner that stand for those of clients of this node.",
            ownerSessions?.count ?? 0
        )
        guard let status else { return }
        let last = status.nodes.map(\.sequence).max() ?? 0
        metrics.gauge(
            "hearth_cluster_epoch",
            "How often the group had a new owner.",
            Int(clamping: status.mark.epoch)
        )
        metrics.gauge(
            "hearth_cluster_sequence",
            "The last entry of the shared log that was read.",
            Int(clamping: status.sequence)
        )
        metrics.gauge(
            "hearth_cluster_behind_entries",
            "Entries that another node has read and this one has not.",
            Int(clamping: last > status.sequence ? last - status.sequence : 0)
        )
        metrics.gauge(
            "hearth_cluster_nodes",
            "Nodes of the group heard lately, this one included.",
            status.nodes.count + 1
        )
        metrics.gauge(
            "hearth_cluster_waiting_bytes",
            "Bytes of commits that are not in the shared log.",
            status.waitingByteCount
        )
        metrics.counter(
            "hearth_cluster_relayed_total",
            "Requests of clients that were sent to the owner.",
            relayedCount
        )
        for (name, help, count) in [
            (
                "hearth_cluster_void_total", "Entries that were read and do not count.",
                status.counts.voidEntries
            ),
            ("hearth_cluster_claims_total", "Tries to own the group.", status.counts.claims),
            (
                "hearth_cluster_sent_again_total", "Entries that were sent once more.",
                status.counts.sentAgain
            ),
        ] { metrics.counter(name, help, Int(clamping: count)) }
    }
}

extension Beat {
    fileprivate var description: JSONValue {
        let role =
            switch role {
            case .following: "follower"
            case .owning: "owner"
            case .leaving: "leaving"
            case .stopped: "stopped"
            }
        return [
            "address": .string(details.clientAddress), "role": .string(role),
            "epoch": .integer(Int64(clamping: progress.epoch)),
            "commit": .integer(Int64(clamping: progress.commit)),
            "sequence": .integer(Int64(clamping: sequence)),
            "rules": .string(details.rulesDigest.hexadecimal),
        ]
    }
}

extension UInt64 {
    /// 16 digits.
    fileprivate var hexadecimal: String {
        Hexadecimal.encode((0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) })
    }
}
