"""The lists of `make mutants` and the table that it prints."""

from tests.mutants import report, scope


def test_every_module_has_tests_that_exist():
    assert all(map(scope.tests_of, scope.modules()))
    files = [f"tests/{each}.py" for names in scope._FURTHER.values() for each in names.split()]
    files += [name.partition("::")[0] for name in scope.DESELECTED]
    assert [name for name in files if not (scope.ROOT / name).is_file()] == []


def test_lines_of_equivalent_mutants_are_still_there():
    lines = {
        module: {
            line.strip() for line in (scope.ROOT / module).read_text(encoding="utf-8").split("\n")
        }
        for module in scope.modules()
    }
    reasons = report.equivalents()
    assert [key for key in reasons if key[1] not in lines[key[0]]] == []
    assert all(key[1] != key[2] and reason for key, reason in reasons.items())


def test_report():
    diff = "--- a\n+++ b\n@@ -3 +3 @@\n-    x = 1\n+    x =  2"
    assert report.changed(diff) == ("x = 1", "x =  2")
    mutants = [
        report.Mutant("tfmrc/a/b.py", "x = 1", f"x = {n}", n > 3) for n in (0, 2, 3, 4, 5, 6, 7)
    ]
    reasons = {("tfmrc/a/b.py", "x = 1", "x = 2"): "x is not used"}
    assert [each.after for each in report.survivors(mutants, reasons)] == ["x = 0", "x = 3"]
    counted = report.counts({"tfmrc/a/b.py": 9, "tfmrc/c/d.py": 5}, mutants, reasons)
    assert counted["tfmrc/a/b.py"] == (9, 7, 4, 1)
    assert report.table(counted)[2:] == [
        "| a/b.py | 9 | 7 | 4 | 1 | 66.7 |",
        "| c/d.py | 5 | 0 | 0 | 0 | 100.0 |",
        "| **all** | 14 | 7 | 4 | 1 | 66.7 |",
    ]
