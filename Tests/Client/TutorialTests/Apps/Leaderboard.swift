// swift-format-ignore-file
import Foundation
import HearthDatabase

struct PlayerScore: Equatable {
    let name: String
    let score: Int
}

/// The best players, as a table that moves while people play.
class Leaderboard {
    private let scoresRef = Database.database().reference(withPath: "leaderboard")
    private var query: DatabaseQuery?

    // From the lowest to the highest, in the order of the query.
    private var rows: [(key: String, row: PlayerScore)] = []
    private(set) var log: [String] = []
    var tableView: () -> Void = {}

    var top: [PlayerScore] {
        return rows.reversed().map { $0.row }
    }

    func show(_ count: UInt) {
        let query = scoresRef.queryOrdered(byChild: "score").queryLimited(toLast: count)
        self.query = query

        query.observe(.childAdded, andPreviousSiblingKeyWith: { snapshot, previousKey in
            self.insert(snapshot, after: previousKey)
            self.log.append("+\(snapshot.key)")
            self.tableView()
        })
        query.observe(.childRemoved, with: { snapshot in
            self.rows.removeAll { $0.key == snapshot.key }
            self.log.append("-\(snapshot.key)")
            self.tableView()
        })
        query.observe(.childChanged, andPreviousSiblingKeyWith: { snapshot, previousKey in
            self.rows.removeAll { $0.key == snapshot.key }
            self.insert(snapshot, after: previousKey)
            self.tableView()
        })
        query.observe(.childMoved, andPreviousSiblingKeyWith: { snapshot, previousKey in
            self.rows.removeAll { $0.key == snapshot.key }
            self.insert(snapshot, after: previousKey)
            self.log.append("~\(snapshot.key)")
            self.tableView()
        })
    }

    func hide() {
        query?.removeAllObservers()
    }

    private func insert(_ snapshot: DataSnapshot, after previousKey: String?) {
        guard let dict = snapshot.value as? [String: Any],
            let name = dict["name"] as? String,
            let score = dict["score"] as? Int
        else { return }

        let index =
            previousKey.flatMap { key in rows.firstIndex { $0.key == key } }.map { $0 + 1 } ?? 0
        rows.insert((snapshot.key, PlayerScore(name: name, score: score)), at: index)
    }

    /// Keeps a score only when it is better than the best so far.
    func submit(_ score: Int, for uid: String, named name: String, done: @escaping (Bool) -> Void) {
        scoresRef.child(uid).runTransactionBlock({ (currentData) -> TransactionResult in
            var player = currentData.value as? [String: Any] ?? [:]
            let best = player["score"] as? Int ?? 0
            if best >= score {
                return .abort()
            }
            player["name"] = name
            player["score"] = score
            currentData.value = player
            return .success(withValue: currentData)
        }) { (error, committed, _) in
            if let error = error {
                print("transaction failed: \(error)")
            }
            done(committed)
        }
    }
}
