/// What is wrong with the name of a template, segment or credential; nil = nothing. Campaign files and commands name
/// them, and people read them in tables.
func nameFault(_ name: String) -> String? {
    let isFit =
        (1...64).contains(name.count) && name.contains { !$0.isWhitespace }
        && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    return isFit ? nil : "name: use 1 to 64 characters, not blanks alone and no control characters"
}
