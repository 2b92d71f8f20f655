"""How the program is doing: levels, delays, backlogs and losses."""
