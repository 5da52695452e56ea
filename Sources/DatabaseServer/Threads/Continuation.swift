import Transport

/// What happens on the loop when another thread is done: it is carried there and back untouched.
final class Continuation<Outcome: Sendable>: Sendable {
    let body: @LoopActor (Outcome) -> Void

    init(_ body: @escaping @LoopActor (Outcome) -> Void) {
        self.body = body
    }
}
