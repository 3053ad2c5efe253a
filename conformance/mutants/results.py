"""The report of mutants. It collects the mutants of several seeds for the same source."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from conformance.mutants.mutant import Mutant
from conformance.mutants.trial import Verdict
from conformance.reporting import heading

STATUSES = ("killed", "survived", "equivalent", "invalid")
EQUIVALENT = Path(__file__).with_name("equivalent.json")


class Results:
    """A report that is written after every mutant.

    Parameters
    ----------
    path : Path
    device : {"cpu", "cuda"}
    fingerprint : str
        The fingerprint of the source. A report for another source is overwritten.
    """

    def __init__(self, path: Path, device: str, fingerprint: str) -> None:
        self._path, self._heading, self._fingerprint = path, heading(device), fingerprint
        self._lock = threading.Lock()
        self._entries: dict[tuple[Any, ...], dict[str, Any]] = {}
        for entry in load(path, fingerprint):
            self._entries[_key(entry)] = entry

    def get(self, seed: int, mutant: Mutant) -> dict[str, Any] | None:
        """The entry of a mutant; None if it was not tried."""
        return self._entries.get((seed, *mutant))

    def add(
        self, seed: int, mutant: Mutant, verdict: Verdict, tests: Mapping[str, int | None], seconds: float
    ) -> dict[str, Any]:
        """Add a mutant, write the report, and return the entry.

        Parameters
        ----------
        tests : dict
            The number of tests that cover the mutant (``"covering"``), and of those that run (``"chosen"``), if known.
        seconds : float
            The duration of the trial.
        """
        outcome = {"tests": dict(tests), "status": verdict.status, "test": verdict.test, "how": verdict.how}
        entry = {"seed": seed, **mutant._asdict(), **outcome, "seconds": round(seconds, 1)}
        with self._lock:
            self._entries[_key(entry)] = entry
            self.write()
        return entry

    def write(self) -> None:
        """Write the report. Mutants in `equivalent.json` are counted separately."""
        reasons = equivalents()
        for entry in self._entries.values():
            reason = reasons.get(_place(entry))
            if entry["status"] in ("survived", "equivalent"):
                entry["status"] = "survived" if reason is None else "equivalent"
                entry |= {} if reason is None else {"reason": reason}
        entries = list(self._entries.values())
        seeds = sorted({entry["seed"] for entry in entries})
        report = {
            **self._heading,
            "seeds": {str(seed): counts(each for each in entries if each["seed"] == seed) for seed in seeds},
            "all": counts(entries),
            "mutants": entries,
            "fingerprint": self._fingerprint,
        }
        aside = self._path.with_suffix(".tmp")
        aside.write_text(json.dumps(report, indent=1) + "\n")
        aside.rename(self._path)


def load(path: Path, fingerprint: str) -> list[dict[str, Any]]:
    """The mutants of a report; none if there is no report of this fingerprint."""
    report = json.loads(path.read_text()) if path.exists() else {}
    return list(report["mutants"]) if report.get("fingerprint") == fingerprint else []


def counts(entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The number of mutants of each status, and the share of killed ones among those neither equivalent nor invalid."""
    found = Counter(entry["status"] for entry in entries)
    judged = found["killed"] + found["survived"]
    share = round(found["killed"] / judged, 3) if judged else None
    return {**{status: found[status] for status in STATUSES}, "share_killed": share}


def equivalents(path: Path = EQUIVALENT) -> dict[tuple[str, ...], str]:
    """Mutants that behave like the original, judged by hand: the change and the reason."""
    return {_place(entry): entry["reason"] for entry in json.loads(path.read_text())}


def _place(entry: dict[str, Any]) -> tuple[str, ...]:
    """The key of an entry. It does not depend on the line number, so it stays valid if lines above change."""
    return entry["file"], entry["operator"], entry["before"].strip(), entry["after"].strip()


def _key(entry: dict[str, Any]) -> tuple[Any, ...]:
    return (entry["seed"], *(entry[field] for field in Mutant._fields))
