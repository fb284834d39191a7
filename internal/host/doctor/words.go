package doctor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// finding returns a new finding about the service's process.
func (s service) finding(level Level) Finding {
	return Finding{Level: level, PID: s.PID, Name: s.Label()}
}

// limited describes the limit and the group that sets it.
func (s service) limited() string {
	text := fmt.Sprintf("limit of %s (%s in each %s)", cpus(s.CPU.CPUs), millis(time.Duration(s.CPU.CPUs*float64(s.CPU.Period))), millis(s.CPU.Period))
	switch {
	case s.CPU.Inherited():
		text += fmt.Sprintf(" set by %s, above its own group %s", s.CPU.SetBy, s.CPU.Group)
	default:
		text += " set by its own group " + s.CPU.Group
	}
	if s.members > 1 {
		text += fmt.Sprintf(", shared by %d processes", s.members)
	}
	if s.CPU.Hidden {
		text += "; parent groups are not visible from here, so the true limit may be lower"
	}
	return text
}

// counted describes the throttling over the watch and since the group was created.
func (s service) counted() string {
	var parts []string
	if w := s.Throttling.Watch; w != nil {
		text := fmt.Sprintf("watched for %s: %s", seconds(w.Length), periods(w.Throttled, w.Periods))
		if s.CPU.Period > 0 {
			text += fmt.Sprintf(" (%s elapsed)", display.Grouped(int64(w.Length/s.CPU.Period)))
		}
		if w.Throttled > 0 {
			text += ", " + stopped(w.PerThrottled())
		}
		if used, ok := s.used(); ok {
			text += fmt.Sprintf(", %s of the limit used", display.Share(used))
		}
		parts = append(parts, text)
	}
	since := s.Throttling.Since
	text := "since the group was created: " + periods(since.Throttled, since.Periods)
	if since.Throttled > 0 {
		text += ", " + stopped(since.PerThrottled())
	}
	return strings.Join(append(parts, text), "; ")
}

func stopped(each time.Duration) string {
	return fmt.Sprintf("%s each, summed over the CPUs", millis(each))
}

func periods(throttled, of int64) string {
	return fmt.Sprintf("%s of %s periods throttled", display.Grouped(throttled), display.Grouped(of))
}

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

// quantity writes CPUs as Kubernetes does: 2, 1500m.
func quantity(cpus float64) string {
	millis := int64(math.Round(cpus * 1000))
	if millis%1000 == 0 {
		return strconv.FormatInt(millis/1000, 10)
	}
	return strconv.FormatInt(millis, 10) + "m"
}

// cpus writes a limit: "1 CPU", "0.5 CPUs".
func cpus(n float64) string {
	if n == 1 {
		return "1 CPU"
	}
	return strconv.FormatFloat(n, 'g', 4, 64) + " CPUs"
}

// millis writes a time in milliseconds.
func millis(d time.Duration) string {
	return display.Figure(float64(d)/float64(time.Millisecond)) + " ms"
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + " s"
}

// mebibytes writes a size as Kubernetes does: 256Mi.
func mebibytes(bytes int64) string {
	if bytes%(1<<20) != 0 {
		return strconv.FormatInt(bytes, 10)
	}
	return strconv.FormatInt(bytes>>20, 10) + "Mi"
}
