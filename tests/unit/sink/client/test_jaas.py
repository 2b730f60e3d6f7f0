"""JAAS texts: what Java reads, secrets that stay secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.sink.client.jaas import read_jaas
from onceproof.sink.errors import SinkError

MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


def quoted(value: str, quote: str) -> str:
    escaped = value.replace("\\", "\\\\").replace(quote, "\\" + quote).replace("\n", "\\n")
    return f"{quote}{escaped}{quote}"


@given(user=st.text(), password=st.text(), quote=st.sampled_from("\"'"))
def test_any_user_and_password_come_back_as_they_were(user: str, password: str, quote: str) -> None:
    text = f"{MODULE} required username={quoted(user, quote)} password={quoted(password, quote)};"
    entry = read_jaas(text)
    assert entry.module == MODULE
    assert entry.options == {"username": user, "password": password}


@given(text=st.text(alphabet="aZ9.$-_ \n\t\\\"'=;/*#é"))
def test_any_text_is_read_or_refused_without_repeating_it(text: str) -> None:
    assert "Xq7" not in refusal_of(f'm required password="Xq7" {text} Xq7')


def refusal_of(text: str) -> str:
    try:
        read_jaas(text)
    except SinkError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r'"a\"b"', 'a"b'),
        (r'"a\\b"', r"a\b"),
        (r'"\t\101\60"', "\tA0"),
        (r'"\q"', "q"),
        ('"a;b=c // d"', "a;b=c // d"),
        ("bare-word_$.1", "bare-word_$.1"),
    ],
)
def test_escapes_mean_what_they_mean_in_java(written: str, meant: str) -> None:
    assert read_jaas(f"{MODULE} required password={written};").options == {"password": meant}


def test_lines_and_comments_between_the_words_do_not_matter() -> None:
    text = f"""// the writer
        {MODULE}   REQUIRED /* flag
        */ username = "u"
        password="p" ;
        """
    assert read_jaas(text).options == {"username": "u", "password": "p"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the class of a login module"),
        (MODULE, "one of required, requisite, sufficient, optional"),
        (f"{MODULE} maybe;", "one of required, requisite, sufficient, optional"),
        (f'{MODULE} required password="s3cret"', "or ';' at the end"),
        (f"{MODULE} required s3cret;", "expected '='"),
        (f"{MODULE} required password=;", "expected a value"),
        (f'{MODULE} required password="s3cret;', "a quoted text with its end"),
        (f"{MODULE} required; {MODULE} required;", "a client has one login module"),
    ],
)
def test_a_text_that_is_none_is_refused_by_its_place_alone(text: str, expected: str) -> None:
    with pytest.raises(SinkError, match=r"'kafka.sasl.jaas.config' cannot be read") as refused:
        read_jaas(text)
    assert expected in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_an_entry_does_not_show_its_secrets() -> None:
    assert "s3cret" not in repr(read_jaas(f'{MODULE} required password="s3cret";'))
