package import Dispatch
import Foundation

/// Says so when nothing runs the main queue, on which callbacks come unless another one is set. On Linux nothing runs
/// it by itself: a program that waits otherwise would see no callback and no reason.
package final class CallbackWatch: Sendable {
    /// Seconds until the main queue must run a callback; a starting app may keep it busy for some.
    private static let patience = 10

    private let hasRunFlag = Mutex(false)

    /// Watches from the first callback on the main queue on, once in a process.
    private static let main: CallbackWatch = {
        let watch = CallbackWatch(.main)
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(patience)) {
            guard let warning = watch.warning else { return }
            HearthConfiguration.shared.log(.warning, warning)
        }
        return watch
    }()

    /// Calls something of the app on its queue.
    package static func call(on queue: DispatchQueue, _ callback: @escaping @Sendable () -> Void) {
        queue.async(execute: callback)
        if queue === DispatchQueue.main { _ = main }
    }

    init(_ queue: DispatchQueue) { queue.async { self.hasRunFlag.withLock { $0 = true } } }

    var warning: String? {
        if hasRunFlag.withLock({ $0 }) { return nil }
        return
            "callbacks wait for the main queue, which has not run for \(Self.patience) seconds: keep it "
            + "running (an async main function, dispatchMain() or RunLoop.main.run()), or set callbackQueue "
            + "to a queue of your own"
    }
}
