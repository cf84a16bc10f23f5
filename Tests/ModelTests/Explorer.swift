/// What was found, with a shortest way to it.
struct Exploration: Sendable {
    var states = 0
    var violations: [Violation: [Step]] = [:]
    /// Every state that can be reached was looked at.
    var isExhaustive = true

    var report: String {
        violations.map { "\($0.key.rawValue): \($0.value.map(\.description).joined(separator: " -> "))" }.sorted()
            .joined(separator: "\n")
    }
}

/// Walks through every state that a model can reach, breadth first.
struct Explorer {
    private let model: Model
    private let limit: Int
    private var numbers: [ModelState: Int32] = [:]
    private var states: [ModelState] = []
    private var parents: [(state: Int32, step: Step?)] = []
    /// Steps of the protocol alone, faults left out.
    private var edges: [(from: Int32, to: Int32)] = []
    private var ends: [Int32] = []
    private var result = Exploration()

    init(_ model: Model, limit: Int = 2_000_000) {
        self.model = model
        self.limit = limit
    }

    static func explore(_ scene: Scene, rules: Rules = .all) -> Exploration {
        var explorer = Explorer(Model(scene: scene, rules: rules))
        return explorer.run()
    }

    mutating func run() -> Exploration {
        _ = number(of: model.start.canonical(), from: -1, by: nil)
        var next = 0
        while next < states.count {
            guard states.count <= limit else {
                result.isExhaustive = false
                break
            }
            expand(next)
            next += 1
        }
        result.states = states.count
        if result.isExhaustive, let stuck = firstStuck() { result.violations[.stuck] = way(to: stuck) }
        return result
    }

    private mutating func expand(_ index: Int) {
        let state = states[index]
        if let violation = model.violation(in: state) {
            if result.violations[violation] == nil { result.violations[violation] = way(to: index) }
            // Not looked at further, and not counted as stuck too.
            ends.append(Int32(index))
            return
        }
        if model.isFinished(state) { ends.append(Int32(index)) }
        var found: [(Step, Bool, ModelState)] = []
        model.forEachStep(from: state) { step, isFault, next in found.append((step, isFault, next)) }
        for (step, isFault, next) in found {
            let number = number(of: next.canonical(), from: Int32(index), by: step)
            if !isFault { edges.append((Int32(index), number)) }
        }
    }

    private mutating func number(of state: ModelState, from parent: Int32, by step: Step?) -> Int32 {
        if let known = numbers[state] { return known }
        let number = Int32(states.count)
        numbers[state] = number
        states.append(state)
        parents.append((parent, step))
        return number
    }

    /// Breadth first found it first, so its way is a shortest one.
    private func firstStuck() -> Int? {
        var sources = [[Int32]](repeating: [], count: states.count)
        for edge in edges { sources[Int(edge.to)].append(edge.from) }
        var reaches = [Bool](repeating: false, count: states.count)
        var open = ends
        for end in ends { reaches[Int(end)] = true }
        while let state = open.popLast() {
            for source in sources[Int(state)] where !reaches[Int(source)] {
                reaches[Int(source)] = true
                open.append(source)
            }
        }
        return reaches.firstIndex(of: false)
    }

    private func way(to index: Int) -> [Step] {
        var (steps, at): ([Step], Int32) = ([], Int32(index))
        while at >= 0, let step = parents[Int(at)].step {
            steps.append(step)
            at = parents[Int(at)].state
        }
        return steps.reversed()
    }
}
