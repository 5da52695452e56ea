import HearthCore
import JSONTree
import Queries
import SyncCore

extension Warning {
    var level: HearthLoggerLevel {
        switch self {
        case .missingIndex, .writeRefused, .listenRefused, .credentialRefused, .shutDown: .warning
        case .badMessage, .notConnected(_, isFirst: true): .warning
        case .connectionLost: .info
        case .securityDebug, .notConnected(_, isFirst: false): .debug
        }
    }

    var text: String {
        switch self {
        case .missingIndex(let path, let index):
            "a query at \(path) has no index and loads all children: add \".indexOn\": "
                + "\"\(index.indexOn)\" to the rules there"
        case .writeRefused(let path, let failure):
            "a write at \(path) failed: \(DatabaseError(failure, path: "\(path)").code)"
        case .listenRefused(let path, let failure):
            "an observer at \(path) was cancelled: \(DatabaseError(failure, path: "\(path)").code)"
        case .credentialRefused(let words): "the server refused the credential: \(words)"
        case .shutDown(let words): "the server wants this client to stay away: \(words)"
        case .securityDebug(let words): words
        case .badMessage(let words): "the server sent what is no message: \(words)"
        case .notConnected(let reason, isFirst: true):
            "there is no connection, more tries follow: \(reason)"
        case .notConnected(let reason, isFirst: false): "still no connection: \(reason)"
        case .connectionLost(let reason): "the connection was lost: \(reason)"
        }
    }
}

extension QuerySpec.Index {
    /// Its name in `.indexOn` of rules.
    fileprivate var indexOn: String {
        switch self {
        case .key: ".key"
        case .value: ".value"
        case .priority: ".priority"
        case .child(let path): path.wireText
        }
    }
}
