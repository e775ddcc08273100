"""What the tokeniser knows of English: abbreviations that keep their period, clitics."""

ABBREVIATION_LENGTH = 6

# Without the period, as written; ASCII letters, at most ABBREVIATION_LENGTH of them.
ABBREVIATIONS = (
    *("Adm", "Bros", "Capt", "Co", "Col", "Corp", "Dr", "Gen", "Gov", "Hon", "Inc", "Jr", "Lt"),
    *("Ltd", "Maj", "Messrs", "Mr", "Mrs", "Ms", "Mt", "Prof", "Rep", "Rev", "Sen", "Sgt", "Sr"),
    *("St", "Ave", "Blvd", "Dept"),
    *("co", "dept", "v", "vs", "Vs"),
    *("Jan", "Feb", "Apr", "Aug", "Sept", "Sep", "Oct", "Nov", "Dec"),
    *("Ala", "Ariz", "Ark", "Calif", "Colo", "Conn", "Del", "Fla", "Ga", "Ill", "Kan", "Kans"),
    *("Ky", "Md", "Mass", "Mich", "Minn", "Miss", "Mo", "Mont", "Neb", "Nebr", "Nev", "Okla"),
    *("Pa", "Tenn", "Va", "Wash", "Wis"),
)

# What an apostrophe makes a word of its own after letters: they|'re. ('s stands alone after
# digits too: 1990|'s.)
CLITICS = ("s", "m", "d", "re", "ve", "ll")
