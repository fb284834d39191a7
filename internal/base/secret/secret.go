// Package secret decides what of an experiment may be shown. It finds the names of
// variables, headers and fields whose values are secrets, removes those values from
// texts, and makes keyed hashes by which two records compare without the values.
//
// A value is hidden by its name, not by its content: the program cannot know which text
// is a secret. Only a JSON Web Token has a form of its own. Except for the file of the key and
// for declared names, the package is pure.
package secret

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Mask stands for a value that is not shown. It is plain text in YAML and in JSON.
const Mask = "(redacted)"

var (
	// endings are the endings of words that name a secret: PGPASSWORD, authToken.
	endings = []string{"password", "passwords", "passwd", "passphrase", "secret", "secrets", "token",
		"credential", "credentials", "apikey", "accesskey", "secretkey", "privatekey", "signature", "sessionid", "sessid"}
	// words name a secret as a whole word: DB_PASS, MYSQL_PWD, SENTRY_DSN, and the sig of a signed URL.
	words = []string{"pass", "pwd", "dsn", "sig", "jwt", "otp"}
	// keys are the words before key in the name of a secret; a key alone is one only in
	// the name of a variable, as in SSH_KEY. In a query, ?key=5 is a row of a table.
	keys = []string{"api", "access", "secret", "private", "signing", "encryption", "auth"}
	// others are the last words of names whose values are not the secret itself:
	// PASSWORD_FILE, TOKEN_TTL.
	others = []string{"file", "path", "dir", "url", "uri", "host", "name", "size", "length", "count", "limit", "ttl", "timeout", "expiry", "algorithm", "type"}
	// headers carry credentials (RFC 9110 sections 11.6.2 and 11.7.2, RFC 6265).
	headers = []string{"authorization", "proxy-authorization", "cookie", "set-cookie"}
)

// declared are names of this process's inputs, in lower case.
var declared sync.Map

// Declare makes the values of headers and fields of this name secrets, because an input says so:
// the description of a service that names its keys.
func Declare(name string) { declared.Store(strings.ToLower(name), nil) }

// Variable reports whether the value of an environment variable of this name is a secret.
func Variable(name string) bool {
	parts := split(name)
	if len(parts) == 0 || slices.Contains(others, parts[len(parts)-1]) {
		return false
	}
	return named(parts) || slices.Contains(parts, "key") || parts[len(parts)-1] == "auth"
}

// Header reports whether the value of a header of this name is a secret.
func Header(name string) bool {
	return slices.Contains(headers, strings.ToLower(name)) || Field(name)
}

// Field reports whether the value of a field of this name, in a query, in a form, in a
// connection string or of a flag, is a secret.
func Field(name string) bool {
	if _, is := declared.Load(strings.ToLower(name)); is {
		return true
	}
	parts := split(name)
	return len(parts) > 0 && !slices.Contains(others, parts[len(parts)-1]) && named(parts)
}

func named(parts []string) bool {
	for i, part := range parts {
		ends := func(end string) bool { return strings.HasSuffix(part, end) }
		if slices.Contains(words, part) || slices.ContainsFunc(endings, ends) ||
			part == "key" && i > 0 && slices.Contains(keys, parts[i-1]) {
			return true
		}
	}
	return false
}

// split returns the words of a name in lower case: of DB_PASSWORD, db-password,
// db.password and dbPassword.
func split(name string) []string {
	var b strings.Builder
	lower := false // the letter before is a small one
	for _, r := range name {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if lower && unicode.IsUpper(r) {
				b.WriteByte(' ')
			}
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
	}
	return strings.Fields(b.String())
}
