import Dispatch
import Testing

@testable import HearthCore

@Suite("a queue of callbacks that nothing runs")
struct CallbackWatchTests {
    @Test("is reported, with what to do about it, and no more once it has run")
    func stuck() {
        let queue = DispatchQueue(label: "stuck")
        queue.suspend()
        let watch = CallbackWatch(queue)
        #expect(watch.warning?.contains("dispatchMain()") == true)
        #expect(watch.warning?.contains("callbackQueue") == true)
        queue.resume()
        queue.sync {}
        #expect(watch.warning == nil)
    }
}
