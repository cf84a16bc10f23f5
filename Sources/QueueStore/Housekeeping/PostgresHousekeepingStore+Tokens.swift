import Domain
import Postgres

extension PostgresHousekeepingStore {
    /// Waves first: what is part of one is held before anything is retired. Each step finds again what a step that
    /// failed left, and two janitors at once change nothing twice.
    package func judgeTokens(hold: Duration) async throws -> TokenJudgement {
        let waves = try await client.query(.findWaves(since: hold), deadline: .seconds(10))
        _ = try await client.query(.holdWaves, deadline: .seconds(10))
        let paused = try await client.query(.pauseForWaves, deadline: .seconds(10))
        let retired = try await client.query(.retire(olderThan: hold, limit: 5000), deadline: .seconds(10))
        var judgement = TokenJudgement(retired: Int(retired[0].int64(0)), newWaves: [], pausedRuns: [])
        for row in waves where row.bool(4) {
            judgement.newWaves.append(
                TokenWave(
                    credential: Credential.ID(row.int64(0)), evidence: try stored(row.int16(1), "token_wave.evidence"),
                    answers: row.int64(2), against: row.int64(3)))
        }
        judgement.pausedRuns = paused.map { Run.ID($0.int64(0)) }
        return judgement
    }

    package func clearTokens(grace: Duration) async throws -> Int {
        let cleared = try await client.query(.deleteRetired(olderThan: grace, limit: 5000), deadline: .seconds(30))
        _ = try await client.query(.forgetAnswers(olderThan: .seconds(7 * 86_400)), deadline: .seconds(30))
        return Int(cleared[0].int64(0))
    }
}

extension PostgresQuery {
    /// Opens or widens the waves of every credential, looking back to the oldest evidence that waits to be judged.
    ///
    /// A minute belongs to a wave by its own share, or by that of the five that end with it. A wave reaches two minutes
    /// beyond its last one, as evidence is written a little after it was counted. Minutes of a wave that somebody
    /// decided on are not looked at again.
    static func findWaves(since hold: Duration) -> PostgresQuery {
        """
        WITH minute AS MATERIALIZED (
            SELECT m.credential_id, m.at_minute, kind.evidence, sum(m.answers) AS answers,
                sum(CASE kind.evidence WHEN 1 THEN m.gone ELSE m.foreign_to_us END) AS against
            FROM pushfleet.answer_minute m
            CROSS JOIN (VALUES (1::smallint), (2::smallint)) AS kind (evidence)
            WHERE m.at_minute >= least(
                    now() - \(PostgresInterval(hold)),
                    (SELECT min(t.at) FROM pushfleet.token_change t WHERE t.verdict = 0)
                ) - interval '6 min'
                AND NOT EXISTS (
                    SELECT
                    FROM pushfleet.token_wave w
                    WHERE w.credential_id = m.credential_id
                        AND w.evidence = kind.evidence
                        AND w.state <> 0
                        AND m.at_minute >= w.from_at
                        AND m.at_minute < w.to_at
                )
            GROUP BY m.credential_id, m.at_minute, kind.evidence
        ),
        span AS (
            SELECT m.credential_id, m.evidence, m.at_minute AS from_at, m.at_minute AS last_at, m.answers, m.against
            FROM minute m
            UNION ALL
            SELECT m.credential_id, m.evidence, min(m.at_minute) OVER five, m.at_minute, sum(m.answers) OVER five,
                sum(m.against) OVER five
            FROM minute m
            WINDOW five AS (
                PARTITION BY m.credential_id, m.evidence
                ORDER BY m.at_minute
                RANGE BETWEEN interval '4 min' PRECEDING AND CURRENT ROW
            )
        ),
        worst AS (
            SELECT span.credential_id, span.evidence, min(span.from_at) AS from_at,
                max(span.last_at) + interval '2 min' AS to_at, max(span.answers) AS answers,
                max(span.against) AS against
            FROM span
            JOIN pushfleet.credential c ON c.id = span.credential_id
            WHERE span.against >= c.wave_least AND span.against >= c.wave_share * span.answers
            GROUP BY span.credential_id, span.evidence
        )
        INSERT INTO pushfleet.token_wave AS known (credential_id, evidence, from_at, to_at, answers, against)
        SELECT worst.credential_id, worst.evidence, worst.from_at, worst.to_at, worst.answers, worst.against
        FROM worst
        ORDER BY worst.credential_id, worst.evidence
        ON CONFLICT (credential_id, evidence) WHERE state = 0 DO UPDATE
        SET from_at = least(known.from_at, excluded.from_at),
            to_at = greatest(known.to_at, excluded.to_at),
            answers = greatest(known.answers, excluded.answers),
            against = greatest(known.against, excluded.against)
        RETURNING credential_id, evidence, answers, against, xmax = 0 AS is_new
        """
    }

    static let holdWaves: PostgresQuery = """
        UPDATE pushfleet.token_change t
        SET verdict = 4, verdict_at = now()
        FROM pushfleet.token_wave w
        WHERE w.state = 0
            AND w.evidence = 1
            AND t.verdict = 0
            AND t.credential_id = w.credential_id
            AND t.at >= w.from_at
            AND t.at < w.to_at
        """

    /// Campaigns whose answers are part of an open wave; the transactional lane goes on. Once for each wave.
    static let pauseForWaves: PostgresQuery = """
        WITH concerned AS MATERIALIZED (
            SELECT w.id, t.run_id, w.evidence, w.answers, w.against
            FROM pushfleet.token_wave w
            CROSS JOIN LATERAL (
                SELECT DISTINCT t.run_id
                FROM pushfleet.token_change t
                WHERE t.credential_id = w.credential_id
                    AND t.evidence = w.evidence
                    AND t.at >= w.from_at
                    AND t.at < w.to_at
            ) t
            JOIN pushfleet.run ON run.id = t.run_id AND run.status = 1 AND NOT run.standing
            WHERE w.state = 0 AND t.run_id <> ALL (w.paused_runs)
        ),
        noted AS (
            UPDATE pushfleet.token_wave w
            SET paused_runs = w.paused_runs || runs.ids
            FROM (SELECT c.id, array_agg(c.run_id) AS ids FROM concerned c GROUP BY c.id) runs
            WHERE w.id = runs.id
        )
        SELECT c.run_id
        FROM concerned c
        WHERE pushfleet.pause_run(
            c.run_id, CASE c.evidence WHEN 1 THEN 15 ELSE 16 END::smallint,
            format('%s of %s answers within minutes spoke against addresses', c.against, c.answers))
        """

    /// Retires what was quarantined for long enough; the subscriber's row must still be what the evidence made of it.
    static func retire(olderThan hold: Duration, limit: Int32) -> PostgresQuery {
        """
        WITH due AS MATERIALIZED (
            SELECT t.id, t.shard, t.subscriber_id, t.address_version, t.at
            FROM pushfleet.token_change t
            WHERE t.verdict = 0 AND t.at < now() - \(PostgresInterval(hold))
            ORDER BY t.at
            LIMIT \(limit)
            FOR UPDATE SKIP LOCKED
        ),
        retired AS (
            UPDATE pushfleet.subscriber s
            SET state = 3, state_since = now()
            FROM due
            WHERE s.shard = due.shard
                AND s.id = due.subscriber_id
                AND s.address_version = due.address_version
                AND s.state = 5
                AND s.state_since = due.at
            RETURNING due.id
        ),
        judged AS (
            UPDATE pushfleet.token_change t
            SET verdict = CASE WHEN EXISTS (SELECT FROM retired WHERE retired.id = t.id) THEN 1 ELSE 3 END,
                verdict_at = now()
            FROM due
            WHERE t.id = due.id
        )
        SELECT count(*) FROM retired
        """
    }

    /// Subscribers that stayed retired, and evidence of that age whatever became of it.
    static func deleteRetired(olderThan grace: Duration, limit: Int32) -> PostgresQuery {
        """
        WITH old AS MATERIALIZED (
            SELECT t.id, t.shard, t.subscriber_id, t.address_version
            FROM pushfleet.token_change t
            WHERE t.verdict IN (1, 2, 3) AND t.verdict_at < now() - \(PostgresInterval(grace))
            ORDER BY t.verdict_at
            LIMIT \(limit)
            FOR UPDATE SKIP LOCKED
        ),
        forgotten AS (
            DELETE FROM pushfleet.token_change t USING old WHERE t.id = old.id
        ),
        deleted AS (
            DELETE FROM pushfleet.subscriber s
            USING old
            WHERE s.shard = old.shard
                AND s.id = old.subscriber_id
                AND s.address_version = old.address_version
                AND s.state = 3
                AND s.state_since < now() - \(PostgresInterval(grace))
            RETURNING 1
        )
        SELECT count(*) FROM deleted
        """
    }

    static func forgetAnswers(olderThan span: Duration) -> PostgresQuery {
        "SELECT pushfleet.forget_answers(\(PostgresInterval(span)))::text"
    }
}
