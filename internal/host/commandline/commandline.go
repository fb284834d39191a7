// Package commandline reads and writes the command of a process: the one behind a title, and
// for a shell. It knows no runtime.
package commandline

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// WithPort replaces a port in a word by ${port}, where it is not a part of a longer
// number.
func WithPort(word, port string) string {
	for at := 0; ; {
		i := strings.Index(word[at:], port)
		if i < 0 {
			return word
		}
		i += at
		end := i + len(port)
		if (i == 0 || !digit(word[i-1])) && (end == len(word) || !digit(word[end])) {
			word = word[:i] + "${port}" + word[end:]
			end = i + len("${port}")
		}
		at = end
	}
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// Assignments are variables with their values, quoted for a shell.
func Assignments(env map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, Quoted([]string{name + "=" + env[name]}))
	}
	return phrase.List(all)
}

// Absolute is a command with the absolute path of its program, by the folder in which it
// runs and its executable, as far as these are known.
func Absolute(command []string, folder, exe string) []string {
	if len(command) == 0 {
		return nil
	}
	words := slices.Clone(command)
	switch name := words[0]; {
	case filepath.IsAbs(name):
	case strings.Contains(name, "/") && filepath.IsAbs(folder):
		words[0] = filepath.Join(folder, name)
	case exe != "" && filepath.Base(exe) == name:
		words[0] = exe
	}
	return words
}

// Quoted writes a command for a shell. ${port}, which is millicore's, is quoted too.
func Quoted(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		word = display.Plain(word)
		if word == "" || strings.ContainsFunc(word, special) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// special reports a character that means something to a shell.
func special(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./=:,@%+", r) || r > 127)
}
