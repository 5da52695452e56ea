#if Cluster
    import CNats
    import Glibc

    /// How libnats makes a connection; ends with the object.
    final class ConnectionOptions {
        private(set) var handle: OpaquePointer?
        private let configuration: JetStreamConfiguration

        /// - Throws: `BrokerFault` for a file that cannot be used.
        init(
            _ configuration: JetStreamConfiguration,
            _ link: CallbackNumber
        ) throws(BrokerFault) {
            self.configuration = configuration
            try check(natsOptions_Create(&handle))
            try setServers()
            try setCredentials()
            try setTLS()
            let results = [
                natsOptions_SetName(handle, "hearth \(configuration.node)"),
                // The first of the list is the broker beside this node.
                natsOptions_SetNoRandomize(handle, true),
                natsOptions_SetIgnoreDiscoveredServers(handle, true),
                natsOptions_SetTimeout(handle, JetStreamLimits.connectMilliseconds),
                // A lost connection is replaced by another one, whose tail begins where this one's has ended.
                natsOptions_SetAllowReconnect(handle, false),
                natsOptions_SetPingInterval(handle, JetStreamLimits.pingMilliseconds),
                natsOptions_SetMaxPingsOut(handle, 2),
                natsOptions_SetWriteDeadline(handle, JetStreamLimits.writeMilliseconds),
                natsOptions_SetSendAsap(handle, true),
                natsOptions_SetErrorHandler(handle, errorFound, link.closure),
                natsOptions_SetClosedCB(handle, connectionClosed, link.closure),
            ]
            for result in results { try check(result) }
        }

        deinit { natsOptions_Destroy(handle) }

        private func setServers() throws(BrokerFault) {
            var servers = configuration.brokers.map { UnsafePointer(strdup($0)) }
            defer { for server in servers { free(UnsafeMutablePointer(mutating: server)) } }
            try check(natsOptions_SetServers(handle, &servers, Int32(servers.count)))
        }

        private func setCredentials() throws(BrokerFault) {
            switch configuration.credentials {
            case .none: break
            case .user(let name, let password):
                try check(natsOptions_SetUserInfo(handle, name, password))
            case .token(let token): try check(natsOptions_SetToken(handle, token))
            case .file(let path):
                guard access(path, R_OK) == 0 else {
                    throw .file(detail: "\(path): \(String(cString: strerror(errno)))")
                }
                try check(natsOptions_SetUserCredentialsFromFiles(handle, path, nil))
            }
        }

        private func setTLS() throws(BrokerFault) {
            guard let tls = configuration.tls else { return }
            try check(natsOptions_SetSecure(handle, true))
            guard let path = tls.authorityFile else { return }
            let status = natsOptions_LoadCATrustedCertificates(handle, path)
            if status != NATS_OK { throw .file(detail: "\(path): \(lastError(status))") }
        }

        private func check(_ status: natsStatus) throws(BrokerFault) {
            if status == NATS_OK { return }
            throw .refused(
                operation: "options of a connection",
                code: Int(status.rawValue),
                detail: lastError(status)
            )
        }
    }

    /// What libnats says of the error that this thread has just met.
    func lastError(_ status: natsStatus) -> String {
        if let text = nats_GetLastError(nil).map({ String(cString: $0) }), !text.isEmpty {
            return text
        }
        return natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
    }

    extension JetStreamConfiguration {
        /// Why no connection was made.
        func connectFault(_ status: natsStatus) -> BrokerFault {
            let detail = lastError(status)
            return switch status {
            case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED: .credentials(brokers: place)
            case NATS_SSL_ERROR: .untrusted(brokers: place, detail: detail)
            case NATS_SECURE_CONNECTION_WANTED: .noTLS(brokers: place)
            default: .unreachable(brokers: place, detail: detail)
            }
        }
    }
#endif
