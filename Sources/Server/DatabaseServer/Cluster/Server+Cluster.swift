import JSONTree
import Transport

/// What administrators ask a node of a group.
extension Server {
    private static let alone = "This server is alone: it has no --cluster-node."

    /// How the group stands; 404 where there is none.
    func answerCluster(_ pending: PendingExchange) {
        requests.asAdministrator(pending) { [self] in
            let response = cluster.map { HTTPResponse.json(of: $0.description) }
            requests.finish(pending, response ?? .error(404, Self.alone))
        }
    }

    /// How many commits the group has: for its nodes.
    func answerCommits(_ exchange: HTTPExchange) {
        requests.answer(exchange, cluster?.commits(for: exchange.head) ?? .error(404, Self.alone))
    }

    /// Hands the group over: the owner ends as at a signal, and its service manager starts it again as a follower.
    func handOver(_ exchange: HTTPExchange) {
        guard let cluster else { return requests.answer(exchange, .error(404, Self.alone)) }
        guard cluster.hasFollower else {
            let words = "No other node is heard that could own the group: writes would stop."
            return requests.answer(exchange, .error(409, words))
        }
        admin.log(admin.deed("the group is handed over", exchange), on: exchange)
        requests.answer(exchange, .json(of: ["handedOver": .boolean(true)]))
        // The answer is on its way, and connections are drained.
        EventLoop.shared.enqueue { [self] in stopToFollow() }
    }
}
