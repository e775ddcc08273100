"""Questions as inputs of a signature, for exports of several kinds."""

import asyncio

import pytest

from tfmrc.serving import AsyncClient, Client
from tfmrc.serving.queries import answer_query

QUESTION = {"question": "How high?", "passages": ["It is 7 metres high."]}
OTHER = {"classify": ["text"], "embed": ["text"]}


def test_a_model_without_a_signature_to_answer_says_so():
    said = "^This model does not answer questions. Its signatures are classify, embed.$"
    with pytest.raises(ValueError, match=said):
        answer_query(OTHER, **QUESTION, style=str)
    for kind in (Client, AsyncClient):
        client = kind("other")
        client._signatures = OTHER  # as the server would tell them
        with pytest.raises(ValueError, match=said):
            answer = client.answer(**QUESTION)
            asyncio.run(answer)  # that of `AsyncClient`


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_single_text_in_place_of_a_list_of_passages_is_refused(kind):
    client = kind("masque", "http://127.0.0.1:1", retries=0)
    with pytest.raises(TypeError, match=r"put a single one in a list. Received: 'It is 7 metres"):
        answers = client.predict(
            questions=["How high?"], passages=QUESTION["passages"], styles=["qa"]
        )
        asyncio.run(answers)  # those of `AsyncClient`


def test_a_style_of_a_model_without_styles_is_refused():
    reader = {"serving_default": ["question", "passages"]}
    with pytest.raises(ValueError, match=r"^This model has no styles: .* Received: style='nlg'$"):
        answer_query(reader, **QUESTION, style="nlg")
    query = answer_query(reader, **QUESTION, style=str)
    assert query.inputs == {"question": ["How high?"], "passages": [["It is 7 metres high."]]}
