# Where the servers of scripts/python-servers.txt are, for scripts that source this file.
PYTHON_SERVERS=${XDG_CACHE_HOME:-$HOME/.cache}/millicore/python-servers
