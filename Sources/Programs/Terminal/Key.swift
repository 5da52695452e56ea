/// A key that was pressed.
package enum Key: Equatable, Sendable {
    /// One character as a person sees it.
    case character(Character)
    case enter, backspace, delete, tab, backTab, escape
    case up, down, left, right, home, end, pageUp, pageDown
    /// The first of the function keys.
    case f1
    /// The control key and a character, in lower case.
    case control(Character)
    /// A pasted text: its line ends are not key presses.
    case paste(String)
}
