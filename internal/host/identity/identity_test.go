package identity

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/host/inspect"
)

// One service has one name: after a rollout, with other settings, as another worker.
func TestService(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	pod := func(name, container string) inspect.Process {
		return inspect.Process{Name: "java", Container: name, ContainerID: id, Pod: "uid", Namespace: "shop", PodContainer: container}
	}
	command := func(name, words string) inspect.Process {
		return inspect.Process{Name: name, Command: strings.Fields(words)}
	}
	for _, test := range []struct {
		want string
		all  []inspect.Process
	}{
		{"shop/cart/api/java", []inspect.Process{pod("cart-7d9f8b6c4-x2k9p", "api"), pod("cart-5c6d8f7b9b-zzl4q", "api"), pod("cart-x2k9p", "api"), pod("cart-0", "api"), pod("cart-29384756-x2k9p", "api")}},
		{"shop/cart-api/java", []inspect.Process{pod("cart-api", "")}},
		{"shop/api/java", []inspect.Process{pod(id[:12], "api")}},
		{"web/nginx", []inspect.Process{{Name: "nginx", Container: "web", ContainerID: id}, {Name: "nginx", Container: "web", Command: []string{"nginx: worker process"}}}},
		{"gunicorn app:app", []inspect.Process{
			command("gunicorn", "/usr/bin/gunicorn -w 4 --bind 0.0.0.0:80 app:app"),
			command("gunicorn: maste", "/usr/bin/gunicorn --bind 127.0.0.1:8080 -w 8 app:app"),
		}},
		{"java shop-#.jar", []inspect.Process{command("java", "java -Xmx1g -jar /srv/shop-1.2.3.jar"), command("java", "/usr/bin/java -jar shop-1.3.jar 8080")}},
		{"node server.js", []inspect.Process{command("MainThread", "/usr/bin/node --max-old-space-size=512 server.js"), command("node", "node /srv/server.js")}},
		{"python#", []inspect.Process{command("python3.11", ""), command("python3", "python3 -u")}},
		{"puma", []inspect.Process{{Name: "puma 6.4.2 (tcp", Command: []string{"puma 6.4.2 (tcp://0.0.0.0:3000) [shop]"}}}},
		{"server", []inspect.Process{{Name: "server", Container: id[:12], ContainerID: id}}},
	} {
		for _, p := range test.all {
			if got := Service(&p); got != test.want {
				t.Errorf("%q %q: got %q, want %q", p.Container, p.Command, got, test.want)
			}
		}
	}
}
