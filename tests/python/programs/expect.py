"""What the programs expect of errors."""


def fails(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), f"'{error}' does not say '{text}'"
    else:
        raise AssertionError(f"no error that says '{text}'")
