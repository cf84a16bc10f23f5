"""An app's back end: calls pushfleet.notify() in its own transaction, and again under the same key until it is answered."""
import threading

CALL = """SELECT pushfleet.notify('ferry', '{{"externalId": "s-{number}"}}',
    '{{"content": {{"en": {{"title": "Late", "body": "Your ferry is late."}}, "_default": "en"}}}}',
    '{{"idempotencyKey": "call-{number}"}}')"""


class Caller(threading.Thread):
    def __init__(self, pair):
        super().__init__(daemon=True)
        self.pair = pair
        self.ended = threading.Event()
        self.answered = {}
        self.repeated = 0

    def run(self):
        number = 0
        while not self.ended.is_set():
            number += 1
            while (rows := self.pair.try_ask(CALL.format(number=number))) is None:
                self.repeated += 1
                if self.ended.wait(0.1):
                    return
            self.answered[number] = int(rows[0][0])
            self.ended.wait(0.05)

    def end(self):
        self.ended.set()
        self.join()

    def figures(self):
        """Calls that were answered, and those of them that have no outcome or several."""
        if not self.answered:
            return {"calls": 0, "calls_repeated": self.repeated, "calls_without_outcome": 0}
        numbers = ", ".join(f"({each})" for each in self.answered.values())
        wrong = self.pair.number(f"""
            SELECT count(*)
            FROM (VALUES {numbers}) call (id)
            WHERE 1 <> (
                SELECT count(*)
                FROM pushfleet.delivery d
                JOIN pushfleet.run r ON r.id = d.run_id AND r.standing
                WHERE d.number = call.id
            )""", timeout=120)
        return {"calls": len(self.answered), "calls_repeated": self.repeated, "calls_without_outcome": wrong}
