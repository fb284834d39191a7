package commandline

import "strings"

// StartedBy is the command that started a process; nil if it is not known. nginx
// overwrites its arguments with a title: the master's title contains the command,
// without quotes, a worker's does not. The titles of gunicorn, puma, unicorn, Sidekiq and
// PHP-FPM, one argument of several words, do not contain it.
func StartedBy(command []string) []string {
	switch {
	case len(command) == 0:
		return command
	case strings.HasPrefix(command[0], "nginx: "):
	case len(command) == 1 && strings.Contains(command[0], " "):
		return nil
	default:
		return command
	}
	words, _ := strings.CutPrefix(strings.Join(command, " "), "nginx: master process ")
	if strings.HasPrefix(words, "nginx: ") {
		return nil
	}
	return directives(strings.Fields(words))
}

// directives joins the words of nginx's option -g, up to its last semicolon, to the one
// argument that they were.
func directives(words []string) (all []string) {
	for i := 0; i < len(words); i++ {
		all = append(all, words[i])
		if words[i] != "-g" {
			continue
		}
		end := i + 1
		for j := i + 1; j < len(words); j++ {
			if strings.HasSuffix(words[j], ";") {
				end = j
			}
		}
		if end < len(words) {
			all = append(all, strings.Join(words[i+1:end+1], " "))
			i = end
		}
	}
	return all
}
