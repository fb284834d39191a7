package display

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// Problem writes an error for people: the texts of Go's own packages, such as "dial tcp
// 127.0.0.1:80: connect: connection refused", are replaced by plain words. What the
// program itself wrote around them stays, and the result is Clean.
func Problem(err error) string {
	text := err.Error()
	replaceCauses(err, &text)
	for _, one := range leftovers {
		text = one.found.ReplaceAllString(text, one.words)
	}
	return Clean(text)
}

// replaceCauses replaces the texts of the errors that an error consists of, the outer
// ones first: they contain the inner ones.
func replaceCauses(err error, text *string) {
	if words := wordsOf(err); words != "" {
		*text = strings.ReplaceAll(*text, err.Error(), words)
		return
	}
	switch err := err.(type) { //nolint:errorlint // it walks the tree itself
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			replaceCauses(inner, text)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range err.Unwrap() {
			replaceCauses(inner, text)
		}
	}
}

// wordsOf are the words for one error of Go's packages; "" for any other.
func wordsOf(err error) string {
	switch err := err.(type) { //nolint:errorlint // it is one link of the chain
	case *net.OpError:
		return networkWords(err)
	case *net.DNSError:
		return nameWords(err)
	case *fs.PathError:
		return pathWords(err)
	case *exec.Error:
		if errors.Is(err.Err, exec.ErrNotFound) {
			return "there is no program " + err.Name + " in PATH"
		}
	case *strconv.NumError:
		return strconv.Quote(err.Num) + " is not a number"
	case x509.UnknownAuthorityError:
		return "its certificate is signed by an authority that is not trusted"
	case x509.HostnameError:
		return "its certificate is not for the name " + err.Host
	case x509.CertificateInvalidError:
		if err.Reason == x509.Expired {
			return "its certificate has expired or is not valid yet"
		}
	}
	switch err {
	case context.DeadlineExceeded, os.ErrDeadlineExceeded:
		return "no answer within the time limit"
	case context.Canceled:
		return "interrupted"
	case syscall.EMFILE:
		return "too many open files; raise the limit of this process (ulimit -n)"
	}
	return ""
}

// pathWords are the words for an error about a file. What cannot be read needs no name of
// the call that failed; "" for other calls, whose names say more.
func pathWords(err *fs.PathError) string {
	switch err.Op {
	case "open", "stat", "lstat", "read":
	case "mkdir":
		return fmt.Sprintf("the folder %s cannot be made: %v", err.Path, err.Err)
	default:
		return ""
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err.Path + " does not exist"
	case errors.Is(err, syscall.EISDIR):
		return err.Path + " is a folder; name a file"
	case errors.Is(err, syscall.ENOTDIR):
		return err.Path + " does not exist: a part of its path is not a folder"
	}
	return err.Path + ": " + cmp.Or(wordsOf(err.Err), err.Err.Error())
}

// networkWords are those for a failed connection, read or write.
func networkWords(err *net.OpError) string {
	var name *net.DNSError
	if errors.As(err, &name) {
		return nameWords(name)
	}
	at := "the other side"
	if err.Addr != nil {
		at = err.Addr.String()
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return at + " refused the connection: nothing listens there"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return at + " closed the connection"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return at + " cannot be reached: there is no route to it"
	case errors.Is(err, syscall.EADDRINUSE):
		return at + " is in use by another process"
	case errors.Is(err, syscall.ENOENT) && err.Op == "dial":
		return at + " does not exist"
	case errors.Is(err, fs.ErrPermission):
		return at + ": permission denied"
	case err.Timeout():
		return at + " did not answer within the time limit"
	case err.Err != nil:
		return at + ": " + err.Err.Error()
	}
	return ""
}

func nameWords(err *net.DNSError) string {
	switch {
	case err.IsNotFound:
		return "no host is named " + err.Name
	case err.IsTimeout:
		return "the name server did not answer for " + err.Name
	}
	return "the name " + err.Name + " could not be resolved"
}

// leftovers are texts of Go's packages in errors that lost their type on the way.
var leftovers = []struct {
	found *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`(Get|Post|Put|Delete|Patch|Head) "[^"]*": `), ""},
	{regexp.MustCompile(`dial (?:tcp[46]?|unix) (\S+): connect: connection refused`), "$1 refused the connection: nothing listens there"},
	{regexp.MustCompile(`dial tcp[46]?: lookup (\S+)(?: on \S+)?: no such host`), "no host is named $1"},
	{regexp.MustCompile(`lookup (\S+)(?: on \S+)?: no such host`), "no host is named $1"},
	{regexp.MustCompile(`dial (?:tcp[46]?|unix) (\S+): (?:connect: )?`), "$1: "},
	{regexp.MustCompile(`strconv\.\w+: parsing ("[^"]*"): (?:invalid syntax|value out of range)`), "$1 is not a number"},
	{regexp.MustCompile(`(?:context deadline exceeded|i/o timeout)(?: \(Client\.Timeout [^)]*\))?`), "no answer within the time limit"},
	{regexp.MustCompile(`tls: failed to verify certificate: (?:x509: )?`), ""},
	{regexp.MustCompile(`x509: `), ""},
	{regexp.MustCompile(`unexpected end of JSON input`), "the file is empty or cut off"},
	{regexp.MustCompile(`invalid character '.*' (looking for|after|in) .*`), "the file is not JSON"},
	{regexp.MustCompile(`context canceled`), "interrupted"},
}
