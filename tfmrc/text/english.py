"""English abbreviations and clitics of the tokenizer."""

ABBREVIATION_LENGTH = 6

# Abbreviations that keep their period; at most ABBREVIATION_LENGTH ASCII letters.
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

# Clitics that follow an apostrophe and are separate words: they|'re, 1990|'s.
CLITICS = ("s", "m", "d", "re", "ve", "ll")
