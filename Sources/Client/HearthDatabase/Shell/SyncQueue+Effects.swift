import ClientTransport
import DiskCache
import Foundation
import HearthCore
import JSONTree
import SyncCore

/// Work on the queue: steps of the client, and their effects.
extension SyncQueue {
    func take(_ input: Input) {
        guard !state.isClosed else { return }
        state.inputs.append(input)
        let client = state.client ?? start()
        var next = 0
        while next < state.inputs.count {
            let input = state.inputs[next]
            next += 1
            client.step(input, now: Self.now, effects: &state.effects)
            var effects: [Effect] = []
            swap(&effects, &state.effects)
            for effect in effects { perform(effect) }
        }
        state.inputs.removeAll(keepingCapacity: true)
        if !state.changes.isEmpty {
            state.cache?.apply(state.changes)
            state.changes.removeAll(keepingCapacity: true)
        }
        flush()
    }

    /// Makes the client; settings go to it before the first call.
    private func start() -> SyncClient {
        let choice = setup.begin()
        let restored = openCache(choice)
        var options = SyncOptions(
            address: choice.address,
            agent: "sdk.swift.\(SDKVersion.text.replacing(".", with: "-"))",
            seed: .random(in: .min ... .max),
            isStored: restored != nil,
        )
        if let milliseconds = choice.readTimeout { options.getTimeout = milliseconds }
        let client = SyncClient(options)
        state.client = client
        let inputs = [restored.map { .restored($0) }, followCredentials(), .call(followClock())]
        state.inputs.insert(contentsOf: inputs.compactMap(\.self), at: 0)
        return client
    }

    /// Opens the disk cache and reads its content; nil if none is wanted, or it cannot be used.
    private func openCache(_ choice: DatabaseSetup.Choice) -> StoredState? {
        guard choice.isPersistent else { return nil }
        let path = setup.cachePath(choice.address)
        do throws(DiskCacheError) {
            let cache = try DiskCache(
                path: path,
                limitByteCount: Int(clamping: choice.cacheByteCount),
            ) { error in
                HearthConfiguration.shared.log(.warning, "the disk cache: \(error)")
            }
            let restored = try cache.load()
            state.cache = cache
            return restored
        } catch {
            HearthConfiguration.shared.log(
                .error,
                "the disk cache at \(path) cannot be used, nothing is kept: \(error)"
            )
            return nil
        }
    }

    /// Has the server's clock observed, which keys of `childByAutoId` are made by.
    private func followClock() -> Call {
        let entry = ObserverEntry(
            QueryLocation(.infoServerTimeOffset),
            .value,
            route: .direct,
        ) { [weak self] event in
            guard case .success(.value(let node)) = event else { return }
            self?.serverTimeOffset.withLock { $0 = Int64(node.number ?? 0) }
        }
        observers.withLock { $0.insert(entry) }
        return .observe(Observer(id: entry.id, target: entry.location.target, kinds: .value))
    }

    /// Follows sign-ins and sign-outs from now on; returns the present user, if known.
    private func followCredentials() -> Input? {
        let first = FirstCredential()
        credentials.onCredentialChange { [weak self] token, account in
            let input = Input.credentialChanged(token: token, account: account)
            if first.take(input) { return }
            guard let self else { return }
            queue.async { self.take(input) }
        }
        return first.end()
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .open(let socket, let address): open(socket, address)
        case .send(let socket, let frames): state.sockets[socket]?.send(frames)
        case .close(let socket): state.sockets.removeValue(forKey: socket)?.close()
        case .wake(let time): wake(at: time)
        case .fetchToken(let isForced): fetchToken(isForced)
        case .tell(let id, let event): tell(id, event)
        case .finish(let id, let outcome):
            guard let pending = state.pending.removeValue(forKey: id) else { return }
            let result = pending.result(of: outcome)
            deliver(pending.route) { pending.finish(result) }
        case .store(let change): state.changes.append(change)
        case .warn(let warning): HearthConfiguration.shared.log(warning.level, warning.text)
        }
    }

    private func open(_ socket: SocketID, _ address: SocketAddress) {
        var request = SocketRequest(
            host: address.host,
            isSecure: address.isSecure,
            target: address.target,
        )
        request.authorityFile = setup.settings.authorityFile
        request.headers = [("User-Agent", setup.settings.agent)]
        HearthConfiguration.shared.log(.debug, "connecting to \(address.host)")
        state.sockets[socket] = transport.open(request) { [weak self] event in
            guard let self else { return }
            queue.async {
                switch event {
                case .opened: self.take(.opened(socket))
                case .received(let frame): self.take(.received(socket, frame: frame))
                case .closed(let reason):
                    self.state.sockets[socket] = nil
                    self.take(.closed(socket, reason: reason))
                }
            }
        }
    }

    private func wake(at time: Timestamp?) {
        guard let time else {
            state.timer?.schedule(deadline: .distantFuture)
            return
        }
        let timer = state.timer ?? makeTimer()
        let milliseconds = max(0, time.milliseconds - Self.now.milliseconds)
        timer.schedule(deadline: .now() + .milliseconds(Int(min(milliseconds, 86_400_000))))
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.take(.woke) }
        state.timer = timer
        timer.activate()
        return timer
    }

    private func fetchToken(_ isForced: Bool) {
        credentials.fetchToken(forcingRefresh: isForced) { [weak self] result in
            let answer: TokenAnswer =
                switch result {
                case .success(let token?): .token(token)
                case .success(nil): .noUser
                case .failure(let error): .unavailable("\(error)")
                }
            guard let self else { return }
            queue.async { self.take(.tokenFetched(answer)) }
        }
    }

    private func tell(_ id: ObserverID, _ event: ObservedEvent) {
        let entry = observers.withLock { observers -> ObserverEntry? in
            guard let entry = observers[id] else { return nil }
            if case .cancelled = event {
                observers.remove(id)
            } else if entry.isOnce {
                observers.remove(id)
            }
            return entry
        }
        guard let entry else { return }
        if case .cancelled(let failure) = event {
            let error = DatabaseError(failure, path: entry.location.path.description)
            deliver(entry.route) { entry.deliver(.failure(error)) }
        } else {
            if entry.isOnce { state.inputs.append(.call(.stopObserving(id))) }
            deliver(entry.route) { entry.deliver(.success(event)) }
        }
    }

    func deliver(_ route: ObserverEntry.Route, _ tell: @escaping @Sendable () -> Void) {
        switch route {
        case .callbackQueue: state.deliveries.append(tell)
        case .direct: tell()
        }
    }

    func flush() {
        if state.deliveries.isEmpty { return }
        let deliveries = state.deliveries
        state.deliveries = []
        CallbackWatch.call(on: setup.callbackQueue) {
            for tell in deliveries { tell() }
        }
    }

    func closeForGood() {
        guard !state.isClosed else { return }
        state.isClosed = true
        state.timer?.cancel()
        state.timer = nil
        for (_, socket) in state.sockets.sorted(by: { $0.key.value < $1.key.value }) {
            socket.close()
        }
        state.sockets = [:]
        let pending = state.pending.sorted { $0.key.value < $1.key.value }
        state.pending = [:]
        for (_, call) in pending { deliver(call.route) { call.finish(.failure(.closed)) } }
        let entries = observers.withLock { observers in
            defer { observers.removeAll() }
            return observers.inOrder
        }
        for entry in entries { end(entry) }
        state.client = nil
        state.cache?.close()
        state.cache = nil
        flush()
    }

    func end(_ entry: ObserverEntry) {
        observers.withLock { $0.remove(entry.id) }
        deliver(entry.route) { entry.deliver(.failure(.closed)) }
        flush()
    }
}
