// Observers and errors of a service are the SDK's, so services export it.
@_exported public import HearthDatabase
