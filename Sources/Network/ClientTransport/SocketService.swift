#if canImport(CClientTransport)
    import CClientTransport
    import Glibc
    import Locks

    /// The mailbox of a transport's thread, and the thread.
    final class SocketService: Sendable {
        enum Command {
            case open(LibwebsocketsSocket)
            /// A lookup has ended: addresses, or the reason why there are none.
            case found(LibwebsocketsSocket, addresses: [String], reason: String)
            case look(LibwebsocketsSocket)
            /// The transport is gone: the thread ends with its last socket.
            case released
        }

        private struct State: ~Copyable {
            var commands: [Command] = []
            var isRunning = false
            /// The loop to wake; owned by the thread, which takes it from here before it frees it.
            nonisolated(unsafe) var loop: OpaquePointer?
        }

        let times: SocketTimes
        private let state = Mutex(State())

        init(_ times: SocketTimes) { self.times = times }

        /// Hands a command to the thread. Only `open` starts one: without it there is nothing to do.
        func post(_ command: Command) {
            let mustStart = state.withLock { state in
                guard state.isRunning else {
                    guard case .open = command else { return false }
                    state.commands = [command]
                    state.isRunning = true
                    return true
                }
                state.commands.append(command)
                // Behind other commands it is taken with them.
                if state.commands.count == 1, let loop = state.loop {
                    hearth_client_loop_wake(loop)
                }
                return false
            }
            if mustStart { start() }
        }

        private func start() {
            var thread = pthread_t()
            // The new thread takes over this one retained reference.
            let service = Unmanaged.passRetained(self).toOpaque()
            let failure = pthread_create(&thread, nil, { SocketService.run($0) }, service)
            guard failure == 0 else {
                Unmanaged<SocketService>.fromOpaque(service).release()
                fail("no thread can be started: \(String(cString: strerror(failure)))")
                return
            }
            pthread_detach(thread)
        }

        private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let argument else { return nil }
            Unmanaged<SocketService>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }

        private func run() {
            hearth_client_begin_thread()
            var fault = [CChar](repeating: 0, count: Int(HEARTH_CLIENT_REASON_SIZE))
            var callbacks = Connection.callbacks
            guard let loop = hearth_client_loop_create(&callbacks, &fault) else {
                fail(text(of: fault))
                return
            }
            state.withLock { $0.loop = loop }
            let connections = Connections(of: self, on: loop)
            var isWorking = true
            while isWorking {
                for command in take() { connections.perform(command) }
                if connections.isDone, end() { break }
                isWorking = hearth_client_loop_tick(loop)
            }
            state.withLock { $0.loop = nil }
            // Only a loop that broke leaves connections and commands behind.
            let reason = "waiting for the network does not work any more"
            if !isWorking { connections.end(reason) }
            hearth_client_loop_destroy(loop)
            if !isWorking { fail(reason) }
        }

        private func take() -> [Command] {
            state.withLock { state in
                var commands: [Command] = []
                swap(&commands, &state.commands)
                return commands
            }
        }

        /// Takes the loop from the mailbox if no command waits; then no other comes.
        private func end() -> Bool {
            state.withLock { state in
                guard state.commands.isEmpty else { return false }
                state.isRunning = false
                state.loop = nil
                return true
            }
        }

        /// Closes every socket that waits to be opened: the thread could not start.
        private func fail(_ reason: String) {
            let commands = state.withLock { state in
                state.isRunning = false
                var commands: [Command] = []
                swap(&commands, &state.commands)
                return commands
            }
            for case .open(let socket) in commands {
                socket.end()
                socket.tell(.closed(reason: reason))
            }
        }
    }

    /// The text before the NUL.
    func text(of characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
#endif
