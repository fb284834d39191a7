package proc

import (
	"strconv"
	"strings"
)

// Credentials are the users and groups of a process; -1 where one is missing.
type Credentials struct {
	User, RealUser   int // User is the effective one
	Group, RealGroup int
	Groups           []int // supplementary ones
}

// ParseCredentials parses /proc/PID/status (proc_pid_status(5)).
//
//	Uid:\treal\teffective\tsaved\tfilesystem
//	Gid:\treal\teffective\tsaved\tfilesystem
//	Groups:\t4 24 27
func ParseCredentials(text []byte) Credentials {
	c := Credentials{User: -1, RealUser: -1, Group: -1, RealGroup: -1}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "Uid":
			c.RealUser, c.User = realAndEffective(value)
		case "Gid":
			c.RealGroup, c.Group = realAndEffective(value)
		case "Groups":
			for field := range strings.FieldsSeq(value) {
				c.Groups = append(c.Groups, id(field))
			}
		}
	}
	return c
}

// realAndEffective parses the first two ids of a line.
func realAndEffective(value string) (real, effective int) {
	fields := strings.Fields(value)
	if len(fields) < 2 {
		return -1, -1
	}
	return id(fields[0]), id(fields[1])
}

// id parses a user or group.
func id(text string) int {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return -1
	}
	return int(n)
}
