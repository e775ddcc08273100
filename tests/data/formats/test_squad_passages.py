"""SQuAD for Masque: passages of the article, relevance, what is cut."""

from tfmrc.data import Example, Span, squad_for_masque


def sentence(paragraph: int, number: int) -> str:
    return f"Fact {number} of tower {paragraph} is item{paragraph}x{number}."


def article(name: str, paragraphs: int = 6, sentences: int = 3) -> list[Example]:
    """A question about every sentence; every fourth one is unanswerable."""
    examples = []
    for p in range(paragraphs):
        text = " ".join(sentence(p, s) for s in range(sentences))
        for s in range(sentences):
            answer = f"item{p}x{s}"
            start = text.index(answer)
            known = (p * sentences + s) % 4 != 3
            examples.append(
                Example(
                    id=f"{name}-{p}-{s}",
                    question=f"What is fact {s} of tower {p}?",
                    passages=(text,),
                    answers={"span": (answer,)} if known else {},
                    answerable=known,
                    relevance=(known,),
                    spans=(Span(0, start, start + len(answer)),) if known else (),
                    group=name,
                )
            )
    return examples


EXAMPLES = article("Towers") + article("Bridges")


def test_the_paragraph_stands_among_others_of_its_article():
    texts = {e.group: {x.passages[0] for x in EXAMPLES if x.group == e.group} for e in EXAMPLES}
    for before, after in zip(EXAMPLES, squad_for_masque(EXAMPLES, 4), strict=True):
        assert len(after.passages) == len(set(after.passages)) == 4
        assert set(after.passages) <= texts[after.group]
        assert before.passages[0] in after.passages
        assert after.answers == before.answers and after.id == before.id
        own = after.passages.index(before.passages[0])
        assert after.relevance == tuple(n == own and before.answerable for n in range(4))
        assert [after.span_text(s) for s in after.spans] == list(after.answers.get("span", ()))


def test_draw_depends_on_seed_and_id_alone():
    def drawn(examples, seed):
        return {e.id: e.passages for e in squad_for_masque(examples, 4, seed)}

    all_of_them = drawn(EXAMPLES, 1)
    assert all_of_them == drawn(EXAMPLES, 1)
    assert all_of_them != drawn(EXAMPLES, 2)
    second = drawn(article("Bridges"), 1)
    assert second == {name: all_of_them[name] for name in second}


def test_long_paragraphs_are_cut_between_sentences():
    examples = article("Towers", paragraphs=3, sentences=8)
    longest = len(sentence(0, 0).split()) + 1  # and the full stop
    stream = squad_for_masque(examples, 10, passage_words=2 * longest)
    for example in stream:
        for passage in example.passages:
            assert passage.count(".") <= 2 and passage.endswith(".")
        for span in example.spans:
            assert example.span_text(span) == example.answers["span"][0]
            assert example.relevance[span.passage]
        if example.answerable:
            assert {span.passage for span in example.spans} == {
                n for n, relevant in enumerate(example.relevance) if relevant
            }
    assert not stream.account.notes


def test_an_answer_that_no_passage_holds_whole_keeps_its_text():
    text = "one two three four five six seven eight"
    example = Example(
        "1",
        "?",
        (text,),
        {"span": ("three four five",)},
        True,
        (True,),
        (Span(0, 8, 23),),
        group="g",
    )
    stream = squad_for_masque([example], 10, passage_words=3)
    [cut] = stream
    assert cut.answers == example.answers and cut.answerable and cut.spans == ()
    assert {p for p, r in zip(cut.passages, cut.relevance, strict=True) if r} == {
        "one two three",
        "four five six",
    }
    assert stream.account.notes == {"questions whose answer no passage contains whole": 1}


def test_an_answer_that_is_left_out_makes_the_question_unanswerable():
    examples = article("Towers", paragraphs=1, sentences=8)
    stream = squad_for_masque(examples, 2, passage_words=9)
    result = {example.id: example for example in stream}
    assert result["Towers-0-0"].answerable and result["Towers-0-0"].spans
    last = result["Towers-0-6"]
    assert (last.answerable, last.answers, last.spans) == (False, {}, ())
    assert last.relevance == (False, False)
    assert stream.account.notes["questions whose answer was left out with the end of its paragraph"]
    assert stream.account.notes["paragraphs of more than 2 passages, whose end is left out"] == 8


def test_a_share_of_questions_loses_its_paragraph():
    stream = squad_for_masque(EXAMPLES, 4, left_out_share=0.5)
    after = list(stream)
    answerable = sum(e.answerable for e in EXAMPLES)
    left_out = [
        (before, e)
        for before, e in zip(EXAMPLES, after, strict=True)
        if before.answerable and not e.answerable
    ]
    assert 0.2 * answerable < len(left_out) < 0.8 * answerable
    assert stream.account.notes == {
        "questions without their own paragraph, by left_out_share": len(left_out)
    }
    for before, example in left_out:
        assert before.passages[0] not in example.passages
        assert (example.answers, example.spans) == ({}, ())
        assert not any(example.relevance)
    nothing = list(squad_for_masque(EXAMPLES, 4))
    selected = [(a, b) for a, b in zip(nothing, after, strict=True) if a.answerable == b.answerable]
    assert all(a.passages == b.passages for a, b in selected), "the others' draw stays as it is"
