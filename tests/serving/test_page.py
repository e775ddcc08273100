"""The page: what it may load, and, in the slow tests, what it does in a real Chromium."""

import json
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.documents.files import pdf
from tests.predictors import small
from tests.serving.predictors import REQUEST
from tests.serving.small_models import write_echo, write_quoting
from tfmrc import documents
from tfmrc.serving import Server

pytestmark = pytest.mark.usefixtures("exports_once")

KEY = "open sesame"
TIMEOUT = 3_600_000  # milliseconds; a guard against hanging
ATTACK = "<script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\">"
FILES = Path(__file__).parents[2] / "tfmrc" / "serving" / "page_files"


@pytest.fixture(scope="module")
def echo_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    (folder / "echo").mkdir()
    write_echo(folder / "echo", 1)
    with Server(folder, port=0) as running:
        yield running


def test_every_file_has_its_type_and_the_strict_policy(echo_server):
    types = {
        "": "text/html; charset=utf-8",
        "page/page.js": "text/javascript; charset=utf-8",
        "page/page.css": "text/css; charset=utf-8",
        "page/icon.svg": "image/svg+xml",
    }
    for path, content_type in types.items():
        reply = httpx.get(f"{echo_server.url}/{path}")
        assert (reply.status_code, reply.headers["content-type"]) == (200, content_type)
        assert reply.headers["x-content-type-options"] == "nosniff"
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy and "http" not in policy
    assert httpx.get(f"{echo_server.url}/page/../client.py").status_code == 404
    assert httpx.get(f"{echo_server.url}/page/%2e%2e/client.py").status_code == 404


def test_the_page_loads_nothing_from_elsewhere_and_writes_no_markup():
    content = {path.name: path.read_text(encoding="utf-8") for path in FILES.iterdir()}
    page, script, style = content["index.html"], content["page.js"], content["page.css"]
    for name in ("index.html", "page.js", "page.css"):
        assert "//" not in re.sub(r"^\s*//.*$", "", content[name], flags=re.M), name
    assert set(re.findall(r'(?:src|href)="([^"#]+)"', page)) == {
        "page/icon.svg",
        "page/page.css",
        "page/page.js",
    }
    assert not re.search(r"\son\w+=|style=|javascript:|<script(?! src)", page)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)
    assert "@import" not in style and "url(" not in style
    identifiers = set(re.findall(r'id="([\w-]+)"', page))
    assert set(re.findall(r'\$\("([\w-]+)"\)', script)) <= identifiers
    fields = re.findall(r"<(?:input|select|textarea)[^>]*>", page)
    assert len(fields) == len(re.findall(r"<label[^>]*>[^<]*<(?:input|select|textarea)", page))


# === In Chromium ===


@pytest.fixture(scope="module")
def browser():
    """Chromium of the system, driven by Playwright (both are for this test only)."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("TFMRC_CHROMIUM") or shutil.which("chromium")
    assert program, "install Debian's package chromium, or set TFMRC_CHROMIUM"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def server(exported, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    spans = small.san().export(folder / "spans" / "1", **small.SAN_OPTIONS)
    dual = small.daanet().export(folder / "dual" / "1", **small.DAANET_OPTIONS)
    with Server({"hills": exported, "spans": spans, "dual": dual}, port=0) as running:
        yield running


@contextmanager
def opened(browser, url, expected=("400 (Bad Request)",), **options):
    """The page, on which every other error of a script or of the policy fails the test."""
    problems = []
    page = browser.new_page(**options)
    page.set_default_timeout(TIMEOUT)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: (
            problems.append(message.text)
            if message.type == "error" and not any(each in message.text for each in expected)
            else None
        ),
    )
    page.on(
        "request",
        lambda request: (
            problems.append(request.url)
            if not request.url.removeprefix("blob:").startswith(url)
            else None
        ),
    )
    page.goto(url)
    yield page
    page.close()
    assert problems == []


@pytest.fixture
def page(browser, server):
    with opened(browser, server.url) as page:
        count(page, "#model option", 3)
        yield page


# `page.wait_for_function` evaluates strings again and again, which the page's policy forbids.


def wait_for(page, selector, text):
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_contain_text(text, timeout=TIMEOUT)


def count(page, selector, number):
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_have_count(number, timeout=TIMEOUT)


def answered(page):
    wait_for(page, "#status", "Answered")


def ask(page, question, passages):
    page.fill("#question", question)
    areas = page.locator("#passages textarea")
    while areas.count() < len(passages):
        page.click("#add")
    for index, text in enumerate(passages):
        areas.nth(index).fill(text)
    page.click("#submit")
    answered(page)


@pytest.mark.slow
def test_an_answer_shows_where_its_words_came_from(page):
    page.select_option("#model", "hills")
    page.select_option("#style", "qa")
    ask(page, REQUEST["question"][0], REQUEST["passages"][0][:2])
    assert page.text_content(".answer") == "1,310.5 metres"
    word = page.locator(".words button").first
    word.hover()
    assert page.locator("mark.lit").all_text_contents() == ["1,310.5"]
    detail = page.text_content(".detail")
    assert "copied from passage 1, characters 16 to 23" in detail
    assert all(name in detail for name in ("vocabulary", "question", "passage", "%"))
    assert page.locator("#output dt", has_text="Relevance").count() == 2
    page.set_viewport_size({"width": 390, "height": 844})
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390, "a phone shows it without scrolling to the side"


@pytest.mark.slow
def test_markup_in_a_text_is_text(page):
    page.select_option("#model", "spans")
    ask(page, f"How high? {ATTACK}", [f"The hill is high. {ATTACK}", ATTACK])
    assert page.title() == "tfmrc: try a model"
    assert page.locator("#output script, #output img").count() == 0
    assert ATTACK in page.locator("#output .text").first.text_content()


@pytest.mark.slow
def test_an_error_is_shown_and_the_next_request_works(page):
    page.select_option("#model", "hills")
    page.evaluate("document.getElementById('style').options[0].textContent = 'limerick'")
    page.evaluate("document.getElementById('style').options[0].value = 'limerick'")
    page.click("#submit")
    wait_for(page, "#error[role=alert]", "limerick")
    page.select_option("#style", "nlg")
    page.click("#submit")
    answered(page)
    assert page.text_content("#error") == ""


@pytest.mark.slow
def test_spans_and_questions(page):
    page.select_option("#model", "spans")
    ask(page, "How high is it?", ["Nothing here.", "Élan 👩‍👩‍👧: the hill is 310 metres high."])
    best = page.text_content(".answer")
    assert "".join(page.locator("mark.lit").all_text_contents()) == best
    others = page.locator("ol.list button")
    assert others.count() > 1
    others.nth(1).hover()
    assert "".join(page.locator("mark.lit").all_text_contents()) == others.nth(1).text_content()
    page.select_option("#model", "dual")
    assert page.locator("#mode option").all_text_contents() == [
        "Answer a question",
        "Ask about an answer",
    ]
    page.select_option("#mode", "Ask about an answer")
    page.click("#examples button >> nth=1")
    assert page.input_value("#answer") == "1932"
    page.click("#submit")
    page.wait_for_selector("#output .answer")
    assert page.locator("#output h3", has_text="Other questions").count() == 1


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """An index of a PDF file, of one that has changed since, and of a text with markup."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "pages").mkdir()
    lines = [("An owl sat in the mill.", 20, 600), ("It slept until noon.", 20, 570)]
    (folder / "pages" / "birds.pdf").write_bytes(pdf([[("Birds", 30, 700)], lines]))
    (folder / "pages" / "changed.pdf").write_bytes(pdf([[("The owl woke up early.", 20, 600)]]))
    (folder / "pages" / "notes.md").write_text(f"# {ATTACK}\n\nOf an owl: {ATTACK}")
    documents.index(folder / "pages", folder / "pages.index")
    os.utime(folder / "pages" / "changed.pdf")
    write_quoting(folder / "models" / "quoting")
    return folder


@pytest.fixture(scope="module")
def librarian(library):
    index = library / "pages.index"
    with Server(library / "models", port=0, documents=index, api_key=KEY) as running:
        yield running.url


def tab_to(page, selector):
    while not page.evaluate(f"document.activeElement.matches('{selector}')"):
        page.keyboard.press("Tab")


@contextmanager
def asked(browser, url, question, width=1280):
    """The page of documents with an answer, by the keyboard alone."""
    expected, size = ("401 (Unauthorized)", "404 (Not Found)"), {"width": width, "height": 844}
    with opened(browser, url, expected, viewport=size) as page:
        wait_for(page, "#error", "must have the key")
        tab_to(page, "#key")
        page.keyboard.type(KEY)
        page.keyboard.press("Tab")
        wait_for(page, "#title", "Ask the documents")
        wait_for(page, "#output", "The documents have sections such as ")
        tab_to(page, "#question")
        page.keyboard.type(question)
        page.keyboard.press("Enter")
        answered(page)
        yield page


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_documents_are_asked_by_the_keyboard_alone(browser, librarian, width):
    with asked(browser, librarian, "Which owl sat in a mill?", width) as page:
        assert not page.is_visible("#passages") and not page.is_visible("#examples-field")
        assert page.text_content(".answer") == "owl"
        assert page.text_content(".place").startswith("birds.pdf, page 2, Birds, characters ")
        assert page.locator("#output > .text mark").all_text_contents() == ["owl"]
        assert "An owl sat in the mill." in page.text_content("#output > .text")
        count(page, "canvas", 1)
        name = page.get_attribute("canvas", "aria-label")
        assert name == "Page 2 of birds.pdf, with the answer marked"
        tab_to(page, "#output > details:not(.picture) > summary")
        assert not page.is_visible("#output details:not(.picture) mark")
        page.keyboard.press("Enter")
        assert page.text_content("#output details:not(.picture) mark") == "owl"
        assert page.is_visible("#output details:not(.picture) mark")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
@pytest.mark.parametrize(
    "question, headline",
    [
        ("Which owl sat in the mill, perhaps?", "No confident answer. Best guess: owl (0.50)"),
        ("Which llama?", "No answer in these documents."),
    ],
)
def test_a_guess_and_a_missing_answer_are_said(browser, librarian, question, headline):
    with asked(browser, librarian, question) as page:
        assert page.text_content(".answer") == headline
        assert page.locator(".place").count() == ("guess" in headline)


@pytest.mark.slow
def test_markup_in_a_document_is_text(browser, librarian):
    with asked(browser, librarian, f"Of what is it? {ATTACK}") as page:
        assert page.title() == "tfmrc: try a model"
        assert page.locator("#output script, #output img").count() == 0
        assert ATTACK in page.text_content("#output > .text")
        assert ATTACK in page.text_content(".place")


@pytest.mark.slow
def test_a_file_that_has_changed_is_not_shown(browser, librarian):
    with asked(browser, librarian, "Which owl woke up early?") as page:
        wait_for(page, "details .error", "its file has changed since it was indexed")
        page.locator("#output > p > a").click()
        wait_for(page, "#error", "its file has changed since it was indexed")


@pytest.mark.slow
def test_a_file_is_opened_at_its_page_or_saved(browser, librarian, library):
    with asked(browser, librarian, "Which owl sat in a mill?") as page:
        link = page.locator("#output > p > a")
        assert link.get_attribute("href") == "v1/documents/file?name=birds.pdf#page=2"
        with page.expect_popup() as popup:  # with the key, which a link cannot send
            link.click()
        assert popup.value.url.startswith("blob:") and popup.value.url.endswith("#page=2")
    with asked(browser, librarian, "Which owl has a title?") as page:
        with page.expect_download() as saved:
            page.locator("#output > p > a").click()
        assert saved.value.path().read_bytes() == (library / "pages" / "notes.md").read_bytes()


def shown(tmp_path, inputs, texts, outputs):
    """Returns what the page sends and shows for the outputs of a model, run in Node."""
    node = shutil.which("node")
    assert node, "the test needs Node"
    signatures = {"serving_default": {"inputs": inputs, "outputs": list(outputs)}}
    case = tmp_path / "case.json"
    reply = outputs if len(outputs) > 1 else next(iter(outputs.values()))  # as of the server
    case.write_text(json.dumps({"signatures": signatures, "texts": texts, "outputs": reply}))
    runner = Path(__file__).with_name("page_runner.js")
    command = [node, runner, FILES / "page.js", case]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


READER = {
    "answer": ["hill"], "start": [2], "end": [6], "probability": [0.5],
    "answers": [["hill", "owl", ""]], "starts": [[2, 3, -1]], "ends": [[6, 6, -1]],
    "probabilities": [[0.5, 0.25, 0.0]], "answer_passages": [[1, 0, -1]], "passage": [1],
    "answerable_probability": [0.75], "truncated": [False],
}  # fmt: skip


@pytest.mark.slow
def test_the_spans_of_a_reader_are_marked_and_listed(tmp_path):
    page = shown(tmp_path, ["question", "passages"], ["An owl.", "A hill."], READER)
    assert page["error"] == "" and page["inputs"]["passages"] == [["An owl.", "A hill."]]
    assert page["shown"][0] == "hill" and page["marks"] == ["owl", "hill"]
    assert "50.0 %" in page["shown"][1] and "passage 2, characters 2 to 6" in page["shown"][1]
    assert page["shown"][3] == "hill 50.0 %, passage 2owl 25.0 %, passage 1"
    unsure = READER | {"is_confident": [False]}
    page = shown(tmp_path, ["question", "passages"], ["An owl.", "A hill."], unsure)
    assert page["shown"][0] == "No confident answer. Best guess: hill (0.50)"
    assert page["marks"] == ["owl", "hill"]
    none = READER | {"answers": [["", "", ""]], "starts": [[-1, -1, -1]], "ends": [[-1, -1, -1]]}
    page = shown(tmp_path, ["question", "passages"], ["An owl.", "A hill."], none)
    assert (page["error"], page["shown"][0], page["marks"]) == (
        "",
        "No answer in these passages.",
        [],
    )
