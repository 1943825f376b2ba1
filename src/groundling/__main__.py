"""`python -m groundling` is the command line, where the script is not on the path."""

from groundling.cli import main

main()
