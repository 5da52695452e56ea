import ClusterLog

/// What a broker answers to an append.
enum AppendAnswer: Equatable {
    case stored(sequence: UInt64)
    /// The entry expected another one to be the last.
    case refused(last: UInt64)
    /// It may be stored, or not, or come later. There is a fault when the broker says why.
    case unknown(BrokerFault?)

    /// Reads `{"stream":"LOG_main","seq":7}`, or such an answer with an error in it.
    ///
    /// An answer without a body says that no broker leads the stream now.
    init(_ body: [UInt8], stream: String) {
        guard let reply = BrokerReply(body) else {
            self = .unknown(nil)
            return
        }
        let error = reply["error"]
        if error.isAbsent {
            self = reply["seq"].sequence.map { .stored(sequence: $0) } ?? .unknown(nil)
            return
        }
        let code = Int(error["err_code"].integer ?? 0)
        let detail = error["description"].text ?? ""
        if code == BrokerErrorCode.wrongLastSequence, let last = Self.number(behind: detail) {
            self = .refused(last: last)
        } else {
            let fault = BrokerFault(code: code, detail, "append to \(stream)", stream: stream)
            // Without a leader, which passes, and whose time the log sees anyway.
            if case .noAnswer = fault { self = .unknown(nil) } else { self = .unknown(fault) }
        }
    }

    /// The news of append `number`.
    func news(of number: UInt64) -> LogNews {
        switch self {
        case .stored(let sequence): .stored(number: number, sequence: sequence)
        case .refused(let last): .refused(number: number, last: last)
        case .unknown: .unknown(number: number)
        }
    }

    /// The number at the end of `wrong last sequence: 7`.
    private static func number(behind text: String) -> UInt64? {
        text.split(separator: " ").last.flatMap { UInt64($0) }
    }
}

/// Codes of errors that brokers answer with. Source: nats-server, `server/errors.json`.
enum BrokerErrorCode {
    static let wrongLastSequence = 10_071
    static let streamNotFound = 10_059
    /// Errors of brokers that have no leader, or are still starting.
    static let passing: Set<Int> = [10_004, 10_008, 10_009]
    static let notEnabled: Set<Int> = [10_039, 10_076]
    /// Of the account, the broker, its memory and its disk.
    static let full: Set<Int> = [10_002, 10_023, 10_028, 10_047]
}

extension BrokerFault {
    /// The fault that a broker's error is.
    init(code: Int, _ detail: String, _ operation: String, stream: String) {
        switch code {
        case BrokerErrorCode.streamNotFound: self = .noStream(stream: stream)
        case _ where BrokerErrorCode.passing.contains(code): self = .noAnswer(operation: operation)
        case _ where BrokerErrorCode.notEnabled.contains(code):
            self = .noJetStream(place: "the brokers' account")
        case _ where BrokerErrorCode.full.contains(code):
            self = .full(place: "the stream \(stream)", detail: detail)
        default: self = .refused(operation: operation, code: code, detail: detail)
        }
    }
}
