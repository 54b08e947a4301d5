"""`tutti report`: one page, well-formed, with a row for each winner, which asks nothing of a network."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.parse
import xml.etree.ElementTree

TUTTI = str(pathlib.Path(os.environ["TUTTI_BIN"]) / "tutti")
DEADLINE_S = 120
HOSTILE = '<script>alert("1")</script> & \'"'


def winner(collective, size, params, ranks=4, nodes=1):
    return {"collective": collective, "bytes": size, "ranks": ranks, "nodes": nodes, "ranks_per_node": ranks // nodes,
            "nics": 1, "ns": 1000, "rules_ns": 2000, "params": params}


WINNERS = [winner("allreduce", 8, "recursive-doubling"), winner("allreduce", 1 << 20, "ring"),
           winner("allreduce", 1 << 20, "ring", ranks=8), winner("allreduce", (1 << 63) - 2, "chain"),
           winner("broadcast", 64, "linear", nodes=2), winner("barrier", 4, "linear", ranks=2)]


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links, self.sources = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            {"id": self.ids, "href": self.links, "src": self.sources}.get(name, []).append(value)


class Reported(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.wisdom = pathlib.Path(folder.name) / "wisdom.json"
        self.page = pathlib.Path(folder.name) / "page.html"

    def run_tutti(self, *words, code=0, wisdom=None):
        run = subprocess.run([TUTTI, *words], env=dict(os.environ, TUTTI_WISDOM=wisdom or str(self.wisdom)), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stderr

    def report(self, *more):
        self.run_tutti("tune", "barrier", "-n", "2", "--budget", "100ms", "--busy")
        wisdom = json.loads(self.wisdom.read_text())
        wisdom.update(about=HOSTILE, winners=WINNERS + list(more))
        self.wisdom.write_text(json.dumps(wisdom))
        self.run_tutti("report", str(self.page))
        text = self.page.read_text()
        links = Links()
        links.feed(text)
        return text, links

    def test_it_is_well_formed(self):
        text, _ = self.report()
        xml.etree.ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))

    def test_every_winner_has_a_row_and_every_link_an_end(self):
        text, links = self.report()
        for n, one in enumerate(WINNERS):
            row = re.search(r'<tr id="w%d">.*' % n, text)[0]
            self.assertIn("<td>%s</td>" % one["collective"], row)
            self.assertIn("<code>%s</code>" % one["params"], row)
            self.assertIn("2.00x", row)
            self.assertIn("#w%d" % n, links.links)
        self.assertEqual([link for link in links.links if link[0] != "#" or link[1:] not in links.ids], [])
        self.assertEqual(len(links.ids), len(set(links.ids)))

    def test_plans_and_machine_are_pictures(self):
        _, links = self.report()
        self.assertEqual(len(links.sources), len(WINNERS) + 1)
        for source in links.sources:
            head, _, svg = source.partition(",")
            self.assertEqual(head, "data:image/svg+xml")
            xml.etree.ElementTree.fromstring(urllib.parse.unquote(svg))

    def test_shapes_are_told_apart(self):
        even = winner("reduce", 64, "linear", ranks=16, nodes=2)
        text, links = self.report(even, dict(even, ranks_per_node=12), dict(even, nics=2))
        for shape in "16 ranks on 2 nodes", "16 ranks on 2 nodes of up to 12", "16 ranks on 2 nodes, 2 NICs":
            self.assertEqual(text.count("<tr><th>%s</th>" % shape), 1)
        self.assertIn("No picture: wisdom does not say how many ranks each of the nodes has", text)
        self.assertEqual(len(links.sources), len(WINNERS) + 1 + 2)

    def test_a_winner_of_another_version_is_a_question_mark(self):
        text, links = self.report(winner("allreduce", 64, "form=later [core:star]"))
        self.assertIn('<td><a href="#w%d">?</a></td>' % len(WINNERS), text)
        self.assertIn("No picture: allreduce has no form 'later'", text)
        self.assertEqual(len(links.sources), len(WINNERS) + 1)

    def test_pictures_of_many_ranks_are_left_out(self):
        text, _ = self.report(winner("allreduce", 64, "linear", ranks=32))
        self.assertIn("No picture: 32 ranks; a page draws up to 16, tutti plan --svg up to 64", text)

    def test_nothing_is_made_of_what_is_not_drawn(self):
        text, _ = self.report(winner("allreduce", 64, "form=later [core:star]", ranks=32))
        self.assertIn("No picture: 32 ranks; a page draws up to 16", text)  # nobody has looked for the form

    def test_nothing_comes_from_elsewhere(self):
        text, links = self.report()
        self.assertFalse({"script", "link", "iframe", "object"} & set(links.tags))
        self.assertNotRegex(re.sub(r'xmlns=%22http://www.w3.org/2000/svg%22', "", text), r"https?:|@import|url\(http")

    def test_texts_of_files_are_escaped(self):
        text, _ = self.report()
        self.assertIn("&lt;script&gt;", text)

    def test_without_wisdom_there_is_nothing_to_report(self):
        self.assertIn("there is no wisdom to report", self.run_tutti("report", str(self.page), code=1, wisdom="off"))
        self.assertFalse(self.page.exists())


if __name__ == "__main__":
    unittest.main()
