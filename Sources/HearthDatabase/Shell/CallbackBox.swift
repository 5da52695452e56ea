/// A function of the app that need not be `Sendable`, on its way to the queue where it is called.
///
/// `@unchecked`: Firebase's functions take closures that are not `@Sendable`, so that apps can use from
/// them what belongs to the main actor. The box is made where the app hands the closure over, is only
/// passed on, owned by one holder at a time, and is opened on the database's callback queue alone, which is the main queue unless the app
/// has chosen another.
struct CallbackBox<Function>: @unchecked Sendable {
    let call: Function

    init(_ call: Function) {
        self.call = call
    }
}
