import Foundation
import Testing

/// The protocol of batches, leases and outcomes, explored state by state. PUSHFLEET_MODEL_SIZES=large explores more
/// faults at once, which takes minutes in a debug build.
@Suite(.timeLimit(.minutes(30))) struct ModelTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let removed: Rules
        let scene: Scene
        let finds: Violation
        var testDescription: String { name }
    }

    @Test(arguments: Scene.proved) func `one true outcome each, bounded repeats, and a way to the end`(
        scene: Scene
    ) {
        let found = Explorer.explore(scene)
        #expect(found.isExhaustive)
        #expect(found.violations.isEmpty, "\(found.states) states\n\(found.report)")
    }

    @Test(arguments: Case.all) func `without a rule the fault that it prevents is found`(_ removal: Case) {
        let found = Explorer.explore(removal.scene, rules: .all.without(removal.removed))
        #expect(found.violations[removal.finds] != nil, "\(found.states) states\n\(found.report)")
        let sound = Explorer.explore(removal.scene)
        #expect(sound.violations.isEmpty, "\(sound.states) states\n\(sound.report)")
    }
}

extension ModelTests {
    @Test func `each rule is left out by some case`() {
        #expect(Case.all.reduce(into: Rules()) { $0.formUnion($1.removed) } == .all)
    }
}

extension ModelTests.Case {
    private static func without(
        _ name: String, _ rules: Rules, finds violation: Violation, assumeSent: Bool = false, workers: Int = 1,
        erased: Set<UInt8> = [], poison: UInt8? = nil, window: Int = 1, _ faults: Faults
    ) -> ModelTests.Case {
        ModelTests.Case(
            name: name, removed: rules,
            scene: Scene(
                name: name, workers: workers, assumeSent: assumeSent, window: window, faults: faults, erased: erased,
                poison: poison),
            finds: violation)
    }

    static let all: [ModelTests.Case] = [
        without(
            "a repeated flush changes nothing", .idempotentFlush, finds: .secondOutcome,
            Faults(lostReply: 1, rejection: 1)),
        without(
            "a repeated flush counts nothing", .idempotentFlush, finds: .identity, assumeSent: true,
            Faults(lostReply: 1, rejection: 1)),
        without("an erased subscriber's job is returned", .outerJoin, finds: .stuck, erased: [1], .none),
        without(
            "all bits close a batch", [.outerJoin, .serverDecidesDone], finds: .identity, erased: [1], .none),
        without(
            "leased batches come back first", .settleReadyOnly, finds: .needlessDoubt, Faults(cancel: 1)),
        without(
            "settlement repeats", .settleRepeats, finds: .stuck, Faults(cancel: 1, rejection: 1)),
        without(
            "ordinals are announced", .announcements, finds: .untrueOutcome, workers: 2,
            Faults(kill: 1, cancel: 1)),
        without(
            "doubt is kept", .stickyDoubt, finds: .untrueOutcome, Faults(kill: 1, cancel: 1, timeout: 1)),
        without(
            "doubt is kept through a refusal", .stickyDoubt, finds: .untrueOutcome, Faults(kill: 1, refusal: 1)),
        without(
            "a hand-back at the limit reports", .handBackReports, finds: .untrueOutcome, workers: 2,
            Faults(cancel: 1, stop: 1)),
        without(
            "a hand-back at the limit reports, assume_sent", .handBackReports, finds: .sentTwice, assumeSent: true,
            workers: 2, Faults(stop: 1)),
        without(
            "writes are fenced", .fencedWrites, finds: .untrueOutcome, workers: 2,
            Faults(falseRescue: 1, expiry: 1)),
        without("unknown batches go back", .strangersReturn, finds: .stuck, Faults(lostReply: 1)),
        without(
            "a claim whose answer is under way is left alone", .answeredClaimsOnly, finds: .sentTwice, assumeSent: true,
            workers: 2, Faults(lateReply: 1)),
        without(
            "late answers of claims are not used", .lateAnswersUnused, finds: .sentTwice, assumeSent: true, workers: 2,
            Faults(lateReply: 1)),
        without("a third lapse ends the poisonous job", .poisonEnds, finds: .stuck, poison: 0, .none),
        without(
            "a suspect batch announces one job at a time", .suspectWindow, finds: .wronglyNamed, poison: 0, window: 2,
            .none),
    ]
}

extension Scene {
    private static let isLarge = ProcessInfo.processInfo.environment["PUSHFLEET_MODEL_SIZES"] == "large"

    static let proved: [Scene] = small + (isLarge ? large : [])

    private static let small: [Scene] = [
        Scene(name: "kill, cancel, rejection", faults: Faults(kill: 1, cancel: 1, rejection: 1)),
        Scene(name: "false rescue, lost reply", faults: Faults(falseRescue: 1, lostReply: 1)),
        Scene(name: "stop, cancel, timeout", faults: Faults(cancel: 1, timeout: 1, stop: 1)),
        Scene(
            name: "pause, expiry, erased, refusal",
            faults: Faults(pause: 1, expiry: 1, refusal: 1), erased: [1]),
        Scene(
            name: "kill, expiry, rejection", workers: 1, faults: Faults(kill: 1, expiry: 1, rejection: 1)),
        Scene(name: "two batches, kill", batches: [[0, 1], [2]], faults: Faults(kill: 1)),
        Scene(
            name: "stop, kill, pause, expiry, cancel",
            faults: Faults(kill: 1, cancel: 1, pause: 1, expiry: 1, rejection: 1, stop: 1)),
        Scene(
            name: "batch of three", batches: [[0, 1, 2]], window: 2,
            faults: Faults(kill: 1, falseRescue: 1, rejection: 1)),
        Scene(name: "two batches", batches: [[0, 1], [2, 3]], faults: Faults(kill: 1, cancel: 1, rejection: 1)),
        Scene(name: "late reply, kill, cancel", faults: Faults(kill: 1, lateReply: 1, cancel: 1)),
        Scene(name: "late replies, false rescue", faults: Faults(falseRescue: 1, lateReply: 2)),
        Scene(name: "poison", batches: [[0, 1, 2]], window: 2, poison: 1),
        Scene(name: "poison, cancel, expiry", window: 2, faults: Faults(cancel: 1, expiry: 1), poison: 1),
    ].flatMap { [$0.under(assumeSent: false), $0.under(assumeSent: true)] }

    private static let large: [Scene] = [
        Scene(
            name: "all but expiry",
            faults: Faults(kill: 1, falseRescue: 1, lostReply: 1, cancel: 1, rejection: 1, timeout: 1)),
        Scene(
            name: "all around a stop",
            faults: Faults(falseRescue: 1, lostReply: 1, cancel: 1, rejection: 1, timeout: 1, stop: 1)),
        Scene(
            name: "two kills, two false rescues, cancel",
            faults: Faults(kill: 2, falseRescue: 2, lostReply: 1, cancel: 1)),
    ].flatMap { [$0.under(assumeSent: false), $0.under(assumeSent: true)] }
}
