#if Cluster
    import CNats
    import ClusterLog
    import Synchronization

    /// What the callbacks of one connection do, on threads of libnats.
    struct LinkEvents: Sendable {
        let stream: String
        let deliver: @Sendable (LogNews) -> Void
        /// What an operator should know.
        let failed: @Sendable (BrokerFault) -> Void
        /// The connection has ended, for whatever reason.
        let closed: @Sendable () -> Void
        /// The consumer behind a subscription, by its address, has stopped or lost a delivery.
        let interrupted: @Sendable (_ subscription: UInt) -> Void
    }

    /// One tail, and what it does when a delivery was lost.
    struct TailEvents: Sendable {
        let tail: Tail
        let interrupted: @Sendable () -> Void
    }

    /// What callbacks of libnats reach, by the number that they are given in place of a pointer.
    ///
    /// C callbacks capture nothing, and libnats may make one more while what it is about is going away. A number that
    /// is not in the table any more does nothing; no memory depends on which call is the last.
    final class CallbackTable<Events: Sendable>: Sendable {
        private struct State {
            var lastNumber: UInt = 0
            var events: [UInt: Events] = [:]
        }

        private let state = Mutex(State())

        /// Enters events, and returns their number as the closure of callbacks.
        func add(_ events: Events) -> CallbackNumber {
            state.withLock { state in
                state.lastNumber += 1
                state.events[state.lastNumber] = events
                return CallbackNumber(number: state.lastNumber)
            }
        }

        func remove(_ number: CallbackNumber) {
            // Let go behind the lock: the last reference to a log may be in there.
            _ = state.withLock { $0.events.removeValue(forKey: number.number) }
        }

        subscript(closure: UnsafeMutableRawPointer?) -> Events? {
            state.withLock { $0.events[UInt(bitPattern: closure)] }
        }
    }

    /// A number of a `CallbackTable`, never 0 and never used twice.
    struct CallbackNumber: Sendable {
        fileprivate let number: UInt

        /// As libnats carries it. It is not an address.
        var closure: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }
    }

    let linkTable = CallbackTable<LinkEvents>()
    let tailTable = CallbackTable<TailEvents>()

    /// A copy of what a message holds.
    func bytes(of message: OpaquePointer?) -> [UInt8] {
        Array(
            UnsafeRawBufferPointer(
                start: natsMsg_GetData(message),
                count: Int(natsMsg_GetDataLength(message))
            )
        )
    }

    /// An answer to an append, on `<inbox>.<number>`.
    let answerArrived: natsMsgHandler = { _, _, message, closure in
        defer { natsMsg_Destroy(message) }
        guard let events = linkTable[closure], let subject = natsMsg_GetSubject(message),
            let number = String(cString: subject).split(separator: ".").last.flatMap({ UInt64($0) })
        else { return }
        let answer = AppendAnswer(bytes(of: message), stream: events.stream)
        if case .unknown(let fault?) = answer { events.failed(fault) }
        events.deliver(answer.news(of: number))
    }

    let beatArrived: natsMsgHandler = { _, _, message, closure in
        defer { natsMsg_Destroy(message) }
        linkTable[closure]?.deliver(.beat(bytes(of: message)))
    }

    let entryArrived: natsMsgHandler = { _, _, message, closure in
        defer { natsMsg_Destroy(message) }
        guard let events = tailTable[closure] else { return }
        var about: UnsafeMutablePointer<jsMsgMetaData>?
        defer { jsMsgMetaData_Destroy(about) }
        // What has no numbers is not of the consumer.
        guard natsMsg_GetMetaData(&about, message) == NATS_OK, let numbers = about?.pointee.Sequence
        else { return }
        let isWhole = events.tail.receive(
            bytes(of: message),
            sequence: numbers.Stream,
            delivery: numbers.Consumer
        )
        if !isWhole { events.interrupted() }
    }

    let connectionClosed: natsConnectionHandler = { _, closure in linkTable[closure]?.closed() }

    /// Errors that libnats finds by itself.
    let errorFound: natsErrHandler = { connection, subscription, status, closure in
        guard let events = linkTable[closure] else { return }
        switch status {
        case NATS_MISSED_HEARTBEAT, NATS_MISMATCH:
            events.interrupted(UInt(bitPattern: subscription))
        // Deliveries of libnats that wait too long are dropped: the next one of the tail shows it.
        case NATS_SLOW_CONSUMER: break
        case NATS_NOT_PERMITTED:
            var text: UnsafePointer<CChar>?
            _ = natsConnection_GetLastError(connection, &text)
            events.failed(.notPermitted(detail: text.map { String(cString: $0) } ?? ""))
        default:
            let detail = natsStatus_GetText(status).map { String(cString: $0) } ?? ""
            events.failed(
                .refused(operation: "connection", code: Int(status.rawValue), detail: detail)
            )
        }
    }
#endif
