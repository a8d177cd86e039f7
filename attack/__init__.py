"""The attack: random attempts to make hinge lie, hang, crash or lose a model.

``python -m attack NAME`` runs one attack, ``python -m attack all`` every one. Each is a small module with one function,
``case(rng)``, that tries one thing and says what it has seen (:class:`attack.table.Finding`). Cases run in child
processes: a crash or a hang is a line in the table, and the campaign goes on with the next case.
"""
