"""The sink's table and its JAAS reader against Java's own client, asked in one JVM."""

import base64
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from onceproof.cluster.jvm import DEFAULT_VERSION, broker_software
from onceproof.sink.client.jaas import read_jaas
from onceproof.sink.client.table import TABLE

JVM_S_MAX = 60
SEED = 4
TEXTS = 2000
READ_BY_JAVA_MIN = 1500
NAMES = ("username", "password", "a-b_$1", '"quoted name"')
# No bare value begins like a number: Java refuses those, and the sink need not.
VALUES = (
    *("word", "a-b_$1.c", '""', '"a b"', "'c'", "'\"'", '"é;=//"', '"/* y */"', '"tab\there"'),
    *('"q\\"q"', '"\\\\"', '"\\101\\7\\n\\q\\400"', "'\\''", '"\\1234"', '"\\8"'),
)
BLANKS = (" ", "\n", "\t", " // x\n", " /* y\n */ ")
NOTHING = ("", *BLANKS)
PROGRAM = """
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

public class Ask {
    static String coded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
    public static void main(String[] arguments) {
        for (String name : ProducerConfig.configNames()) System.out.println("name " + name);
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            byte[] bytes = Base64.getDecoder().decode(lines.nextLine());
            Password text = new Password(new String(bytes, StandardCharsets.UTF_8));
            StringJoiner answer = new StringJoiner(" ", "read ", "");
            try {
                var entries = JaasContext.loadClientContext(Map.of("sasl.jaas.config", text))
                    .configurationEntries();
                if (entries.size() != 1) throw new IllegalArgumentException();
                answer.add(coded(entries.get(0).getLoginModuleName()));
                entries.get(0).getOptions().forEach(
                    (name, value) -> answer.add(coded(name)).add(coded(value.toString())));
                System.out.println(answer);
            } catch (RuntimeException refused) {
                System.out.println("refused");
            }
        }
    }
}
"""


@dataclass(frozen=True, kw_only=True)
class JavasAnswers:
    settings: list[str]
    jaas: dict[str, tuple[str, dict[str, str]] | None]  # module and options; None: refused


def some_texts() -> Iterator[str]:
    """JAAS texts and, now and then, one with a sign missing; the same ones each time."""
    dice = random.Random(SEED)
    for _ in range(TEXTS):
        words = ["m.LoginModule", dice.choice(BLANKS), dice.choice(("required", "OPTIONAL"))]
        for _ in range(dice.randrange(4)):
            sign = dice.choices(("=", ""), (20, 1))[0]
            words += [dice.choice(BLANKS), dice.choice(NAMES), dice.choice(NOTHING), sign]
            words += [dice.choice(NOTHING), dice.choice(VALUES)]
        end = dice.choices((";", ""), (20, 1))[0]
        yield "".join([*words, dice.choice(NOTHING), end, dice.choice(NOTHING)])


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> JavasAnswers:
    software = broker_software(DEFAULT_VERSION)
    program: Path = tmp_path_factory.mktemp("java") / "Ask.java"
    program.write_text(PROGRAM)
    texts = list(some_texts())
    asked = "\n".join(base64.b64encode(text.encode()).decode() for text in texts) + "\n"
    answer = subprocess.run(
        [software.java, "-cp", software.classpath, str(program)],
        input=asked,
        capture_output=True,
        text=True,
        timeout=JVM_S_MAX,
        check=True,
    )
    lines = answer.stdout.splitlines()
    names = [line.removeprefix("name ") for line in lines if line.startswith("name ")]
    answers = [_entry(line) for line in lines if not line.startswith("name ")]
    return JavasAnswers(settings=names, jaas=dict(zip(texts, answers, strict=True)))


def _entry(line: str) -> tuple[str, dict[str, str]] | None:
    if line == "refused":
        return None
    words = [base64.b64decode(word).decode() for word in line.split(" ")[1:]]
    return words[0], dict(zip(words[1::2], words[2::2], strict=True))


def test_every_setting_of_javas_producer_is_in_the_table(java: JavasAnswers) -> None:
    assert len(java.settings) > 100
    assert [name for name in java.settings if name not in TABLE] == []


def test_what_java_reads_as_a_login_is_read_the_same(java: JavasAnswers) -> None:
    read = {text: entry for text, entry in java.jaas.items() if entry is not None}
    assert len(read) >= READ_BY_JAVA_MIN
    for text, (module, options) in read.items():
        ours = read_jaas(text)
        assert (ours.module, ours.options) == (module, options), text
