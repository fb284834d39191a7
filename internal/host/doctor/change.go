package doctor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// change describes how to set the process's parallelism to n, or why that is not
// possible.
func (s service) change(n int) string {
	if most := s.machine(); most > 0 {
		n = min(n, most)
	}
	if s.ownChoice() && s.chosen() > 0 {
		return fmt.Sprintf("change the program's call of runtime.GOMAXPROCS to %d, or remove the call: it overrides the environment", n)
	}
	limit := runtimes.Limit{CPUs: s.CPU.CPUs, Leaf: s.CPU.Own}
	machine := runtimes.Machine{Online: s.online, Affinity: s.Info.Affinity}
	for _, setting := range runtimes.Settings(s.Info, limit, machine, s.Command) {
		if setting.Value != n || setting.Label == runtimes.AsItIs {
			continue
		}
		if value, ok := setting.Env[runtimes.KnobOf(s.Info).Env]; ok { // the whole value, with other options
			text := "try " + quoted([]string{runtimes.KnobOf(s.Info).Env + "=" + value})
			if s.ownChoice() {
				text += s.where(n)
			}
			return text
		}
		return "try " + setting.Label
	}
	words := strings.Replace(runtimes.KnobOf(s.Info).Words, "=n", "="+strconv.Itoa(n), 1)
	if strings.HasSuffix(words, "change it there") {
		words += fmt.Sprintf(", to %d", n)
	}
	return words
}

// where describes the change in a program that may call runtime.GOMAXPROCS.
func (s service) where(n int) string {
	return fmt.Sprintf("; if the program calls runtime.GOMAXPROCS, which overrides the variable, set it to %d there", n)
}

// verify returns a change and the command that measures its effect.
func (s service) verify(change string) []string {
	if command := s.tried(); command != "" {
		return []string{change, "verify: " + command}
	}
	return []string{change}
}

// measured returns the command that measures which setting is best, for a finding
// without a recommended change.
func (s service) measured() []string {
	if command := s.tried(); command != "" {
		return []string{"measure: " + command}
	}
	return nil
}

// longest is the maximum length of a command in bytes: a longer one is cut after the
// program's name.
const longest = 160

// tried is the command of millicore try with the same limits.
func (s service) tried() string {
	if s.CPU.CPUs <= 0 {
		return ""
	}
	text := "millicore try --cpu " + quantity(s.CPU.CPUs)
	if s.Memory.Limit > 0 {
		text += fmt.Sprintf(" --memory %s", mebibytes(s.Memory.Limit))
	}
	text += " -- "
	started := started(s.Command)
	command := quoted(started)
	switch {
	case len(started) == 0:
		return text + "COMMAND…"
	case len(command) > longest:
		return text + quoted(started[:1]) + " …"
	}
	return text + command
}

// started is the command that started a process. nginx overwrites its arguments with
// a title: the master's title contains the command, a worker's does not.
func started(command []string) []string {
	if len(command) == 0 || !strings.HasPrefix(command[0], "nginx: ") {
		return command
	}
	words, _ := strings.CutPrefix(strings.Join(command, " "), "nginx: master process ")
	if strings.HasPrefix(words, "nginx: ") {
		return nil
	}
	return strings.Fields(words)
}

// quoted writes a command for a shell.
func quoted(command []string) string {
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
