package objects

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// podUser reports whether a pod can run as a user: it has fields for numbers only.
func podUser(user string) bool {
	_, _, ok := numbers(user)
	return ok || user == ""
}

func errUser(user string) error {
	return fmt.Errorf("user: a pod runs as the user of its image or as UID[:GID] (runAsUser, runAsGroup), and %q is no number; write one, or leave user out", user)
}

// runAs makes a pod run as UID[:GID]; "" changes nothing.
func runAs(s *corev1.PodSecurityContext, user string) {
	if uid, gid, ok := numbers(user); ok {
		s.RunAsUser, s.RunAsGroup = &uid, &gid
	}
}

// numbers reads UID[:GID]; the GID is the UID if it is not stated.
func numbers(user string) (uid, gid int64, ok bool) {
	first, second, both := strings.Cut(user, ":")
	uid, err := strconv.ParseInt(first, 10, 64)
	if err != nil || !both {
		return uid, uid, err == nil
	}
	gid, err = strconv.ParseInt(second, 10, 64)
	return uid, gid, err == nil
}
