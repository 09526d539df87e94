"""What several tests of the pages share."""

import pytest

from mkldash.apps.racing.conductor import Race
from mkldash.apps.serve import warm_up


@pytest.fixture(scope="session", autouse=True)
def _compiled():
    """As the server does before it is ready: a thread that compiles cannot be told to end."""
    warm_up()


@pytest.fixture
def begin():
    """Starts races, and sees that they leave no thread."""
    made = []

    def begin(state):
        race = Race(state, lambda: None)
        made.append(race)
        race.start()
        return race

    yield begin
    for race in made:
        race.close()
