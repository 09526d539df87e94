"""What several tests of the pages share."""

import pytest

from mkldash.apps.racing.conductor import Race


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
