from pathlib import Path

from onceproof.cluster.template import copy_template, new_kafka_id, with_ids

META_3_3 = """#
#Sun Nov 15 20:43:00 UTC 2026
node.id=1
version=1
cluster.id=aaaaaaaaaaaaaaaaaaaaaa
"""
META_4 = META_3_3 + "directory.id=bbbbbbbbbbbbbbbbbbbbbb\n"


def test_ids_are_replaced_and_all_else_is_kept() -> None:
    lines = with_ids(META_4, node_id=3, cluster_id="ccc").splitlines()
    assert lines[:2] == META_4.splitlines()[:2]
    assert lines[2:5] == ["node.id=3", "version=1", "cluster.id=ccc"]
    assert lines[5].startswith("directory.id=")
    assert lines[5] != "directory.id=bbbbbbbbbbbbbbbbbbbbbb"


def test_a_version_without_directory_ids_gets_none() -> None:
    assert "directory.id" not in with_ids(META_3_3, node_id=3, cluster_id="ccc")


def test_a_copy_has_ids_of_its_own_and_the_same_feature_levels(tmp_path: Path) -> None:
    template = tmp_path / "template"
    template.mkdir()
    (template / "meta.properties").write_text(META_4)
    (template / "bootstrap.checkpoint").write_bytes(b"feature levels")
    for node_id in (1, 2):
        copy_template(template, tmp_path / str(node_id), node_id=node_id, cluster_id="ccc")
    first, second = ((tmp_path / n / "meta.properties").read_text() for n in "12")
    assert "node.id=1\n" in first
    assert "node.id=2\n" in second
    assert first.splitlines()[5] != second.splitlines()[5], "directory ids must differ"
    assert (tmp_path / "2" / "bootstrap.checkpoint").read_bytes() == b"feature levels"
    assert (template / "meta.properties").read_text() == META_4


def test_ids_have_kafkas_form() -> None:
    ids = {new_kafka_id() for _ in range(500)}
    assert len(ids) == 500
    assert {len(each) for each in ids} == {22}
    assert not any(each.startswith("-") for each in ids)
