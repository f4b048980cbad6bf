"""``shoal.release``: run a plan behind its gates, and put the whole release in its place in one move."""

import os
from collections.abc import Callable
from pathlib import Path

from shoal.errors import Infeasible, InputError, parameter
from shoal.release.folder import ReleaseFolder
from shoal.release.plan.plan import Plan
from shoal.release.plan.reader import read_plan
from shoal.release.run.repeated import Earlier
from shoal.release.run.result import Release
from shoal.release.run.running import Running
from shoal.runtime.observer import Observer, silent


def release(
    plan: "Plan | str | os.PathLike[str]",
    output: "str | os.PathLike[str] | None" = None,
    *,
    resume: bool = False,
    repeat: "str | os.PathLike[str] | None" = None,
    accept_changed_input: bool = False,
    another: bool = False,
    force: bool = False,
    say: Callable[[str], None] = lambda text: None,
    observer: Observer = silent,
) -> Release:
    """Run a plan: each step in turn, each gate after its step, and then all files at once.

    Parameters
    ----------
    plan : Plan or path
        What to do; see ``shoal plan``.
    output : path, optional
        The folder of the release. By default one named like the release, beside the plan.
    resume : bool, default False
        Go on with a run that was broken off, after the last step that was finished.
    repeat : path, optional
        The folder of an earlier release, whose secret is used again: the same inputs and settings give the same bytes. With
        others it is a new release, which needs ``another``.
    accept_changed_input : bool, default False
        Repeat a release although an input is not what it was, which is then another one, or go on with a broken-off run.
    another : bool, default False
        Release records again that were released before into the same folder of releases with other settings or another secret;
        ``diff_releases`` says what both together give away.
    force : bool, default False
        Replace a release that is there.
    say : callable, optional
        Called with a line now and then.
    observer : callable, optional
        Called with a ``Progress`` while a search goes on.

    Returns
    -------
    Release
        The folder with ``public`` and ``internal``, the gates and what was measured, the outputs with their SHA-256.

    Raises
    ------
    InputError
        Before anything runs: the plan is wrong, something is in the way, or the records were released before.
    Infeasible
        A gate failed; nothing was published. The report is beside, in a folder that ends in ``.refused``.

    See Also
    --------
    recode, microaggregate, perturb, suppress : what steps do.

    Examples
    --------
    >>> import pathlib, polars as pl, shoal, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pl.DataFrame({"age": [31, 38, 47, 44] * 5, "sex": list("ffmm") * 5}).write_csv(folder / "people.csv")
    >>> text = '''
    ... [release]
    ... name = "survey"
    ... [sources.people]
    ... data = "people.csv"
    ... roles = {age = "quasi-identifier", sex = "quasi-identifier"}
    ... [[steps]]
    ... do = "recode"
    ... quasi = ["age", "sex"]
    ... [gates.recode]
    ... k = 5
    ... [outputs]
    ... "safe.csv" = "recode"
    ... '''
    >>> _ = (folder / "plan.toml").write_text(text)
    >>> done = shoal.release(folder / "plan.toml")
    >>> done.gates[0].value, sorted(path.name for path in (done.folder / "public").iterdir())
    (5, ['manifest.json', 'safe.csv'])
    """
    asked = plan if isinstance(plan, Plan) else read_plan(plan)
    earlier = None if repeat is None else Earlier.read(Path(repeat))
    folder = ReleaseFolder(asked.target(output))
    folder.open(resume=resume, force=force)
    with folder.held():
        secret = folder.secret(None if earlier is None else earlier.secret)
        running = Running(asked, folder, secret, say, observer)
        try:
            running.read_inputs()
            if not accept_changed_input:
                running.expect_unchanged(None if earlier is None else earlier.fingerprints)
            if earlier is not None:
                running.expect_repetition(earlier, another=another)
            elif not another:
                running.expect_new(changed=accept_changed_input)
            for step in running.steps():
                running.expect_gates(step)
            return running.finish(force=force)
        except Infeasible as problem:
            report = running.refuse(str(problem))
            folder.discard()
            raise Infeasible(f"{problem.template}; the report is in '{report.name}'") from None
        except InputError:
            # What was finished can be used when the plan is corrected; what was not begun leaves nothing.
            if not running.finished and not resume:
                folder.discard()
            else:
                say(f"what was finished is kept for its owner alone: {parameter('resume')} goes on with it")
            raise
