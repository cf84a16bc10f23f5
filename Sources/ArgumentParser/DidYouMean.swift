/// " Did you mean '--limit'?" if a name is at most two edits away, else nothing.
func didYouMean(_ word: String, among names: [String]) -> String {
    let distances = names.map { (name: $0, distance: editDistance(word, $0)) }
    guard let nearest = distances.min(by: { $0.distance < $1.distance }), nearest.distance <= 2 else { return "" }
    return " Did you mean '\(nearest.name)'?"
}

/// How many characters must be added, removed or replaced to make one of the other (Levenshtein).
private func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var previous = Array(0...right.count)
    for (row, character) in left.enumerated() {
        var current = [row + 1]
        for column in right.indices {
            let replaced = previous[column] + (character == right[column] ? 0 : 1)
            current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
        }
        previous = current
    }
    return previous[right.count]
}
