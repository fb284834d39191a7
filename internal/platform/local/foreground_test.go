package local

import "testing"

func TestAServerStaysInTheForegroundByAnOptionOfItsOwn(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/sbin/apache2":    "a service must stay in the foreground: start apache2 with -DFOREGROUND",
		"/usr/sbin/lighttpd":   "a service must stay in the foreground: start lighttpd with -D",
		"/usr/sbin/php-fpm8.2": "a service must stay in the foreground: start php-fpm8.2 with -F",
		"./server":             "a service must stay in the foreground (nginx does with -g 'daemon off;')",
	} {
		if got := foreground(program); got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}
