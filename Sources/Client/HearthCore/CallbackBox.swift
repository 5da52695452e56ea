/// A function of the app that need not be `Sendable`, on its way to the queue where it is called. `@unchecked`:
/// Firebase's functions take closures that are not `@Sendable`, so that apps can use state of the main actor in them.
/// The box is made where the app passes the closure, has one owner at a time, and is opened only on the callback queue,
/// which is the main queue unless the app has chosen another.
package struct CallbackBox<Function>: @unchecked Sendable {
    /// The function, to be called on that queue.
    package let call: Function

    /// Takes a function of the app.
    package init(_ call: Function) { self.call = call }
}
