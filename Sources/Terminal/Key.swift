/// A key that was pressed.
package enum Key: Equatable, Sendable {
    /// One letter as a person sees it.
    case character(Character)
    case enter, backspace, delete, tab, backTab, escape
    case up, down, left, right, home, end, pageUp, pageDown
    /// The first of the function keys.
    case f1
    /// The control key and a letter, in lower case.
    case control(Character)
    /// A text that was pasted as one: its line ends are no presses of a key.
    case paste(String)
}
