"""The command line: for people and scripts. `main` names the commands; each is imported when it is called."""
