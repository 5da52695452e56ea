// A service's observers and errors are the SDK's: whoever imports a service has them.
@_exported public import HearthDatabase
