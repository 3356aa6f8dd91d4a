import sys

USAGE = 2
# The packages that the commands need beside Python's own, by the names of their modules.
_PACKAGES = {"h5py": "python3-h5py", "numpy": "python3-numpy", "matplotlib": "python3-matplotlib"}


def main() -> int:
    """Runs the command line; says in one line which package is missing, if one is."""
    try:
        from .cli import main as run_command

        return run_command()
    except ModuleNotFoundError as error:
        module = (error.name or "").split(".")[0]
        if module not in _PACKAGES:
            raise
        print(f"error: {sys.executable} has no {module}: {sys.executable} -m pip install {module}, or "
              f"on Debian apt install {_PACKAGES[module]} and /usr/bin/python3 instead",
              file=sys.stderr)
        return USAGE


if __name__ == "__main__":
    sys.exit(main())
