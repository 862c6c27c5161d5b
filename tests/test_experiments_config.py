"""Settings come from defaults, file and --set in that order; what makes no sense is refused by name."""

import pytest

from experiments.config import Config, ConfigError, config_from
from experiments.config_source import load_config, presets


def test_every_preset_loads():
    assert {"quick", "java"} <= set(presets())
    for name in presets():
        assert load_config(name, None, []).name == name


def test_a_file_overrides_defaults_and_set_overrides_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\ngames = 7\ndiscount = 1\nfilters = [3, 5]\n[opponents]\nself = 1\n')
    settings = ["games=9", "rule=standard", "symmetric=false", "opponents={self = 1, greedy = 0.5}"]
    config = load_config(None, path, settings)
    assert (config.name, config.games, config.rule, config.symmetric) == ("mine", 9, "standard", False)
    assert config.discount == 1.0 and type(config.discount) is float and config.filters == (3, 5)
    assert config.opponents == {"self": 1.0, "greedy": 0.5}


def test_a_config_survives_its_json_form():
    config = load_config("quick", None, ["seed=5"])
    assert config_from(config.as_dict()) == config


@pytest.mark.parametrize(
    ("setting", "hint"),
    [
        ("gmaes=5", "games"),
        ("games=many", "whole number"),
        ("games=1.5", "whole number"),
        ("games=true", "whole number"),
        ("symmetric=1", "true or false"),
        ("filters=[1]", "a list of 2"),
        ("evaluate_against=random", "a list$"),
        ("filters=16", "list"),
        ("opponents=greedy", "table"),
        ("learning_rate=1" + 400 * "0", "wanted a number"),
        ("opponents={self = 0}", "shares"),
        ("opponents={}", "shares"),
        ("games", "key=value"),
        ("rule=gomoku", "freestyle"),
        ("dtype=float16", "float32"),
        ("baseline=median", "none, mean"),
        ("games=0", "1 or more"),
        ("temperature=0", "positive"),
        ("temperature=1e-30", "0.001 to 1000"),
        ("learning_rate=inf", "positive"),
        ("max_gradient_norm=inf", "positive"),
        ("entropy_weight=inf", "0 or more"),
        ("opponents={self = inf}", "shares"),
        ("name=../elsewhere", "none of them a /"),
        ('name="a\\u0000b"', "printable"),
        ("name=", "1 to 100"),
        ("height=2", "3 to 25"),
        ("width=1000000", "3 to 25"),
        ("win_length=7", "1 to 6"),
        ("rule=renju", "use 5"),
        ("opening_plies=37", "36 cells"),
        ("discount=1.5", "between 0 and 1"),
        ("evaluation_games=7", "even"),
        ("seed=-1", "0 or more"),
        ("java_weights=true", "15x15"),
    ],
)
def test_a_wrong_setting_is_one_line_that_says_what_is_right(setting, hint):
    with pytest.raises(ConfigError, match=hint) as caught:
        load_config(None, None, [setting])
    assert "\n" not in str(caught.value)


def test_sizes_are_not_passed_over_by_a_network_of_its_own_sizes():
    for net in ("conv", "line"):
        load_config(None, None, [f"net={net}", "filters=[16, 32]", "hidden=256"])
        with pytest.raises(ConfigError, match=f"hidden = 9: wanted 256 with net {net}, whose sizes are its own"):
            load_config(None, None, [f"net={net}", "hidden=9"])
        with pytest.raises(ConfigError, match=rf"filters = \(2, 3\): wanted \(16, 32\) with net {net}"):
            load_config(None, None, ["filters=[2, 3]", f"net={net}"])


def test_wrong_files_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_config(None, tmp_path / "nowhere.toml", [])
    broken = tmp_path / "broken.toml"
    broken.write_text("games = = 5")
    with pytest.raises(ConfigError, match=r"broken\.toml.*TOML"):
        load_config(None, broken, [])
    for text in ("games = " + 5_000 * "9", "games = " + 5_000 * "["):
        broken.write_text(text)
        with pytest.raises(ConfigError, match=r"broken\.toml.*TOML"):
            load_config(None, broken, [])
        with pytest.raises(ConfigError, match="whole number"):
            load_config(None, None, [text])
    with pytest.raises(ConfigError, match="name"):
        load_config(None, None, ["name = 'a'\ngames = 5"])
    with pytest.raises(ConfigError, match="quick"):
        load_config("quik", None, [])
    with pytest.raises(ConfigError, match="give one"):
        load_config("quick", broken, [])


def test_every_setting_is_explained():
    import ast
    import inspect

    body = ast.parse(inspect.getsource(Config)).body[0].body
    fields = [i for i, node in enumerate(body) if isinstance(node, ast.AnnAssign)]
    for i in fields:
        following = body[i + 1]
        assert isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant), body[i].target.id
