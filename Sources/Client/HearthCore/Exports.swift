// An app that imports Firebase has Foundation with it: `DispatchQueue`, `Date`, `NSError`.
@_exported public import Foundation
@_exported public import Locks
