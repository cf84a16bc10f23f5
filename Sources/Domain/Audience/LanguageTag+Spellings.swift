extension LanguageTag {
    /// What devices may call a language that an author asks for, in lower case with `-`: today's name and older ones.
    package static func spellings(matching key: String) -> [String] {
        guard let tag = LanguageTag(key: key) else { return [] }
        let name = tag.text(tag.count)
        var spellings = [name]
        for (old, new) in LanguageAliases.oldAndNewNames {
            // `sh` is `sr-latn`, which `sr` takes in.
            if name == new || new.hasPrefix(name + "-") {
                spellings.append(old)
            } else if name.hasPrefix(new + "-") {
                spellings.append(old + name.dropFirst(new.utf8.count))
            }
        }
        return spellings
    }
}
