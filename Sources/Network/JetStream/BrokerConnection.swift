#if Cluster
    import CNats
    import ClusterLog

    /// One connection to one broker, until it ends. It does not reconnect: the log makes another.
    ///
    /// `@unchecked Sendable`: it owns its handles, which are set once, in `init`; libnats locks what is behind them.
    final class BrokerConnection: @unchecked Sendable {
        /// Tells it from others of the log.
        let number: Int
        private let configuration: JetStreamConfiguration
        private let link: CallbackNumber
        /// Answers to append 7 come to `<inbox>.7`.
        private var inbox = ""
        private var connection: OpaquePointer?
        private var context: OpaquePointer?
        private var answers: OpaquePointer?
        private var beats: OpaquePointer?

        /// Connects to the first broker that answers. Waits.
        init(
            _ configuration: JetStreamConfiguration,
            number: Int,
            _ events: LinkEvents
        ) throws(BrokerFault) {
            self.number = number
            self.configuration = configuration
            link = linkTable.add(events)
            var inbox: UnsafeMutablePointer<natsInbox>?
            defer { natsInbox_Destroy(inbox) }
            let options = try ConnectionOptions(configuration, link)
            let status = natsConnection_Connect(&connection, options.handle)
            if status != NATS_OK { throw configuration.connectFault(status) }
            try checkMessageSize()
            var requests = jsOptions()
            jsOptions_Init(&requests)
            requests.Wait = JetStreamLimits.requestMilliseconds
            try check(natsConnection_JetStream(&context, connection, &requests), "use of JetStream")
            try check(natsInbox_Create(&inbox), "choice of an inbox")
            self.inbox = inbox.map { String(cString: $0) } ?? ""
            try check(
                natsConnection_Subscribe(
                    &answers,
                    connection,
                    "\(self.inbox).*",
                    answerArrived,
                    link.closure
                ),
                "subscription to answers"
            )
            try check(
                natsConnection_Subscribe(
                    &beats,
                    connection,
                    "beat.\(configuration.group).*",
                    beatArrived,
                    link.closure
                ),
                "subscription to beats"
            )
        }

        deinit {
            linkTable.remove(link)
            natsConnection_Close(connection)
            natsSubscription_Destroy(answers)
            natsSubscription_Destroy(beats)
            jsCtx_Destroy(context)
            natsConnection_Destroy(connection)
        }

        var isClosed: Bool { natsConnection_IsClosed(connection) }

        /// Ends the connection, and with it every call that waits for an answer. Any thread.
        func close() { natsConnection_Close(connection) }

        // MARK: - What does not wait for an answer

        /// Sends an entry; false when that failed, after which it may still have arrived.
        ///
        /// The header is written by hand: the option of libnats leaves an expected 0 out. There is no message id: who
        /// reads the log finds a copy by itself, and brokers need not remember ids.
        func send(_ entry: [UInt8], number: UInt64, expecting last: UInt64) -> Bool {
            var message: OpaquePointer?
            defer { natsMsg_Destroy(message) }
            var status = entry.withUnsafeBytes { bytes in
                natsMsg_Create(
                    &message,
                    configuration.subject,
                    "\(inbox).\(number)",
                    bytes.bindMemory(to: CChar.self).baseAddress,
                    Int32(bytes.count)
                )
            }
            if status == NATS_OK {
                status = natsMsgHeader_Set(message, "Nats-Expected-Last-Sequence", String(last))
            }
            if status == NATS_OK { status = natsConnection_PublishMsg(connection, message) }
            return isSent(status)
        }

        /// Sends a beat, or not.
        func send(beat: [UInt8]) {
            let status = beat.withUnsafeBytes { bytes in
                natsConnection_Publish(
                    connection,
                    configuration.beatSubject,
                    bytes.baseAddress,
                    Int32(bytes.count)
                )
            }
            _ = isSent(status)
        }

        /// After a message that was written in part nothing else may follow on the socket, and libnats would let it.
        private func isSent(_ status: natsStatus) -> Bool {
            if status != NATS_OK && status != NATS_CONNECTION_CLOSED { close() }
            return status == NATS_OK
        }

        // MARK: - What waits

        /// Makes the stream, or checks the one that is there.
        func openStream() throws(BrokerFault) {
            let settings = StreamSettings(
                name: configuration.stream,
                subject: configuration.subject,
                replicaCount: configuration.replicaCount
            )
            var reply = try request("STREAM.INFO", [])
            if reply["error"]["err_code"].integer == Int64(BrokerErrorCode.streamNotFound) {
                reply = try request("STREAM.CREATE", settings.request)
            }
            let error = reply["error"]
            if !error.isAbsent {
                throw BrokerFault(
                    code: Int(error["err_code"].integer ?? 0),
                    error["description"].text ?? "",
                    "creation of the stream \(configuration.stream)",
                    stream: configuration.stream
                )
            }
            if let fault = settings.fault(in: reply["config"]) { throw fault }
        }

        /// The numbers of the first and the last entry; last + 1 and last when there is none.
        func bounds() throws(BrokerFault) -> (first: UInt64, last: UInt64) {
            var info: UnsafeMutablePointer<jsStreamInfo>?
            defer { jsStreamInfo_Destroy(info) }
            var code = jsErrCode(rawValue: 0)
            let status = js_GetStreamInfo(&info, context, configuration.stream, nil, &code)
            try check(status, "state of the stream", code)
            guard let state = info?.pointee.State else { throw .noAnswer(operation: "state") }
            return (state.Msgs == 0 ? state.LastSeq + 1 : state.FirstSeq, state.LastSeq)
        }

        /// Begins to deliver entries from `sequence` on to a tail.
        ///
        /// A consumer of our own rather than libnats' ordered one: that begins again at entry 1 when it is lost before
        /// it has delivered anything, and does not notice what libnats itself drops.
        func consume(from sequence: UInt64, _ events: TailEvents) throws(BrokerFault) -> Consumer {
            let number = tailTable.add(events)
            var subscription: OpaquePointer?
            var options = jsSubOptions()
            jsSubOptions_Init(&options)
            options.Config.DeliverPolicy = js_DeliverByStartSequence
            options.Config.OptStartSeq = max(1, sequence)
            options.Config.AckPolicy = js_AckNone
            options.Config.MaxDeliver = 1
            options.Config.FlowControl = true
            options.Config.Heartbeat = JetStreamLimits.heartbeatNanoseconds
            options.Config.MemoryStorage = true
            options.Config.Replicas = 1
            var code = jsErrCode(rawValue: 0)
            let status = configuration.stream.withCString { stream in
                options.Stream = stream
                return js_Subscribe(
                    &subscription,
                    context,
                    configuration.subject,
                    entryArrived,
                    number.closure,
                    nil,
                    &options,
                    &code
                )
            }
            let consumer = Consumer(subscription, number)
            try check(status, "consumer of the stream", code)
            // Entries are small or large: bytes alone say how much waits.
            try check(
                natsSubscription_SetPendingLimits(
                    subscription,
                    -1,
                    Int32(JetStreamLimits.arrivedByteCount)
                ),
                "limits of the consumer"
            )
            return consumer
        }

        func purge(through sequence: UInt64) throws(BrokerFault) {
            var options = jsOptions()
            jsOptions_Init(&options)
            options.Wait = JetStreamLimits.requestMilliseconds
            options.Stream.Purge.Sequence = sequence + 1
            var code = jsErrCode(rawValue: 0)
            let status = js_PurgeStream(context, configuration.stream, &options, &code)
            try check(status, "purge", code)
        }

        private func request(_ name: String, _ body: [UInt8]) throws(BrokerFault) -> BrokerReply {
            var message: OpaquePointer?
            defer { natsMsg_Destroy(message) }
            let status = body.withUnsafeBytes { body in
                natsConnection_Request(
                    &message,
                    connection,
                    "$JS.API.\(name).\(configuration.stream)",
                    body.baseAddress,
                    Int32(body.count),
                    JetStreamLimits.requestMilliseconds
                )
            }
            try check(status, name)
            guard let reply = BrokerReply(bytes(of: message)) else {
                throw .refused(operation: name, code: 0, detail: "the answer is not JSON")
            }
            return reply
        }

        private func checkMessageSize() throws(BrokerFault) {
            let byteLimit = Int(natsConnection_GetMaxPayload(connection))
            if byteLimit < JetStreamLimits.messageByteCount {
                throw .smallMessages(place: configuration.place, byteLimit: byteLimit)
            }
        }

        private func check(
            _ status: natsStatus,
            _ operation: String,
            _ code: jsErrCode = jsErrCode(rawValue: 0)
        ) throws(BrokerFault) {
            if status == NATS_OK { return }
            let detail = lastError(status)
            if code.rawValue != 0 {
                throw BrokerFault(
                    code: Int(code.rawValue),
                    detail,
                    operation,
                    stream: configuration.stream
                )
            }
            switch status {
            case NATS_NO_RESPONDERS: throw .noJetStream(place: configuration.place)
            case NATS_TIMEOUT: throw .noAnswer(operation: operation)
            case NATS_CONNECTION_CLOSED, NATS_CONNECTION_DISCONNECTED, NATS_INVALID_SUBSCRIPTION:
                throw .lost(brokers: configuration.place, detail: detail)
            default:
                throw .refused(operation: operation, code: Int(status.rawValue), detail: detail)
            }
        }
    }

    /// The subscription of a tail; it ends with the object.
    ///
    /// `@unchecked Sendable`: it owns the handle, which is set once, and libnats locks what is behind it.
    final class Consumer: @unchecked Sendable {
        private let subscription: OpaquePointer?
        private let number: CallbackNumber

        init(_ subscription: OpaquePointer?, _ number: CallbackNumber) {
            self.subscription = subscription
            self.number = number
        }

        deinit {
            tailTable.remove(number)
            natsSubscription_Destroy(subscription)
        }

        /// By which callbacks name it.
        var address: UInt { UInt(bitPattern: subscription) }
    }
#endif
