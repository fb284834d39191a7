package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Lines as the servers write them.
func TestLines(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 20, 30, 0, time.UTC)
	for _, c := range []struct {
		name, line string
		want       Entry
		why        string
	}{
		{"nginx and Apache, combined", `192.0.2.7 - - [29/Nov/2026:12:20:30 +0200] "GET /a/b?x=1 HTTP/1.1" 200 612 "-" "Mozilla/5.0 (X11) \"x\""`,
			Entry{at, "GET", "/a/b?x=1", "", 200, 0}, ""},
		{"Apache, common, with a user", `192.0.2.7 - frank [29/Nov/2026:10:20:30 +0000] "HEAD / HTTP/1.0" 304 -`, Entry{at, "HEAD", "/", "", 304, 0}, ""},
		{"no user field", `192.0.2.7 - [29/Nov/2026:10:20:30 +0000] "GET / HTTP/1.1" 200 5`, Entry{at, "GET", "/", "", 200, 0}, ""},
		{"a virtual host in front", `shop.example:443 192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "POST /buy HTTP/2.0" 201 5 "-" "-"`, Entry{at, "POST", "/buy", "shop.example", 201, 0}, ""},
		{"a virtual host and a client of IPv6", `[2001:db8::2]:443 2001:db8::7 - frank [29/Nov/2026:10:20:30 +0000] "GET / HTTP/2.0" 200 5 "-" "-"`, Entry{at, "GET", "/", "2001:db8::2", 200, 0}, ""},
		{"two users are no host", `192.0.2.7 frank f [29/Nov/2026:10:20:30 +0000] "GET / HTTP/2.0" 200 5 "-" "-"`, Entry{at, "GET", "/", "", 200, 0}, ""},
		{"a fraction of a second and a zone", `192.0.2.7 - - [29/Nov/2026:12:20:30.250 +0200] "GET / HTTP/1.1" 200 5`, Entry{at.Add(250 * time.Millisecond), "GET", "/", "", 200, 0}, ""},
		{"the file of Docker", `{"log":"192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\"\n","stream":"stdout","time":"2026-11-29T10:20:31.5Z"}`, Entry{at, "GET", "/a", "", 200, 0}, ""},
		{"JSON in the file of Docker", `{"log":"{\"time\":\"2026-11-29T10:20:30Z\",\"method\":\"GET\",\"path\":\"/a\"}\n","stream":"stdout","time":"2026-11-29T10:20:31.5Z"}`, Entry{at, "GET", "/a", "", 0, 0}, ""},
		{"JSON behind compose's prefix", `web-1  | {"time":"2026-11-29T10:20:30Z","method":"GET","path":"/a"}`, Entry{at, "GET", "/a", "", 0, 0}, ""},
		{"JSON behind a time", `2026-11-29T10:20:31.5Z { "time":"2026-11-29T10:20:30Z","method":"GET","path":"/a","host":"[2001:db8::2]:80"}`, Entry{at, "GET", "/a", "2001:db8::2", 0, 0}, ""},
		{"Envoy behind a time", `2026-11-29T10:20:31.5Z [2026-11-29T10:20:30.000Z] "GET /a HTTP/2" 200 - 0 1 4 1`, Entry{at, "GET", "/a", "", 200, 0}, ""},
		{"nginx, JSON by syslog, with the finest of its times", `<190>Nov 29 10:20:30 web nginx: {"time_iso8601":"2026-11-29T10:20:30+00:00","msec":"1795947630.125","request":"GET /a HTTP/1.1"}`,
			Entry{at.Add(125 * time.Millisecond), "GET", "/a", "", 0, 0}, ""},
		{"nginx, JSON with bytes that are not UTF-8", "{\"time\":\"2026-11-29T10:20:30Z\",\"request\":\"GET /caf\xe9/\xc3\xa9 HTTP/1.1\"}", Entry{at, "GET", "/caf%E9/%C3%A9", "", 0, 0}, ""},
		{"half of an object with a request", `{"time":"2026-11-29T10:20:30Z","request":"GET / HTTP/1.1","sta`, Entry{}, reasonUnknown},
		{"a proxy's absolute URL", `192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "GET http://shop.example:8080/a?b HTTP/1.1" 200 5`, Entry{at, "GET", "/a?b", "shop.example", 200, 0}, ""},
		{"Traefik, text", `192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "GET /x HTTP/1.1" 404 19 "-" "curl/8" 1 "web@docker" "http://10.0.0.2:80" 2ms`, Entry{at, "GET", "/x", "", 404, 0}, ""},
		{"HAProxy", `Nov 29 10:20:30 lb haproxy[14389]: 192.0.2.7:33317 [29/Nov/2026:10:20:30.000] in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"`,
			Entry{at, "GET", "/index.html", "", 200, 0}, ""},
		{"Envoy", `[2026-11-29T10:20:30.000Z] "GET /status/418 HTTP/1.1" 200 - 0 135 4 1 "-" "curl/7" "a-b" "httpbin:8000" "10.0.0.1:80"`, Entry{at, "GET", "/status/418", "", 200, 0}, ""},
		{"Envoy behind a container runtime", `2026-11-29T10:20:31.123456789Z stdout F [2026-11-29T10:20:30.000Z] "GET /a HTTP/2" 200 - 0 1 4 1`, Entry{at, "GET", "/a", "", 200, 0}, ""},
		{"AWS", `https 2026-11-29T10:20:30.000000Z app/lb/50dc6c495c0c9188 192.0.2.7:2817 10.0.0.1:80 0.000 0.001 0.000 201 200 34 366 "GET https://www.example.com:443/a?b=c HTTP/1.1" "curl/7.46.0" ECDHE TLSv1.2 arn "Root=1" "-" "-" 0`,
			Entry{at, "GET", "/a?b=c", "www.example.com", 201, 0}, ""},
		{"Caddy", `{"level":"info","ts":1795947630.0,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.7","proto":"HTTP/2.0","method":"GET","host":"shop.example:443","uri":"/a?b","headers":{"Accept":["*/*"]}},"status":200}`,
			Entry{at, "GET", "/a?b", "shop.example", 200, 0}, ""},
		{"Traefik, JSON", `{"DownstreamStatus":404,"RequestHost":"shop.example","RequestMethod":"GET","RequestPath":"/a","StartUTC":"2026-11-29T10:20:30.000000000Z","time":"2026-11-29T11:00:00Z"}`,
			Entry{at, "GET", "/a", "shop.example", 404, 0}, ""},
		{"Envoy, JSON", `{"method":"GET","path":"/a","response_code":503,"start_time":"2026-11-29T10:20:30.000Z","authority":"shop.example"}`, Entry{at, "GET", "/a", "shop.example", 503, 0}, ""},
		{"Envoy's names of headers", `2026-11-29T10:20:31.1+01:00 stdout F {"start_time":"2026-11-29T10:20:30Z","method":"GET","x-envoy-origin-path":"/admin","response_code":404,":authority":"app.internal"}`,
			Entry{at, "GET", "/admin", "app.internal", 404, 0}, ""},
		{"Nginx Proxy Manager", `[29/Nov/2026:10:20:30 +0000] - 304 304 - GET http shop.example "/a" [Client 192.0.2.7] [Length 0] [Gzip -] [Sent-to x] "Mozilla" "-"`,
			Entry{at, "GET", "/a", "shop.example", 304, 0}, ""},
		{"nginx's error log", `2026/11/29 10:20:30 [error] 7#7: *17 user "foo" was not found, client: 192.0.2.7, server: _, request: "GET / HTTP/1.1", host: "x"`, Entry{}, reasonUnknown},
		{"nginx, JSON", `{"time_local":"29/Nov/2026:10:20:30 +0000","request":"GET /a HTTP/1.1","status":"200"}`, Entry{at, "GET", "/a", "", 200, 0}, ""},
		{"Google's load balancer", `{"httpRequest":{"requestMethod":"GET","requestUrl":"https://shop.example/a?b","status":200},"timestamp":"2026-11-29T10:20:30Z"}`,
			Entry{at, "GET", "/a?b", "shop.example", 200, 0}, ""},
		{"names with dots", `{"http.request.method":"GET","url.original":"/a","http.response.status_code":200,"@timestamp":"2026-11-29T10:20:30.000Z"}`, Entry{at, "GET", "/a", "", 200, 0}, ""},
		{"bytes of TLS", `192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "\x16\x03\x01\x00\xEE" 400 157 "-" "-"`, Entry{}, reasonRequest},
		{"an empty request", `192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "" 400 0 "-" "-"`, Entry{}, reasonRequest},
		{"a tunnel", `192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "CONNECT example.com:443 HTTP/1.1" 400 0`, Entry{}, reasonNoPath},
		{"a tunnel, in JSON", `{"time":"2026-11-29T10:20:30Z","method":"CONNECT","path":"example.com:443"}`, Entry{}, reasonNoPath},
		{"Apache's own requests", `::1 - - [29/Nov/2026:10:20:30 +0000] "OPTIONS * HTTP/1.0" 200 126 "-" "Apache (internal dummy connection)"`, Entry{}, reasonNoPath},
		{"the preface of HTTP/2", `192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "PRI * HTTP/2.0" 400 157 "-" "-"`, Entry{}, reasonNoPath},
		{"the referrer is no request", `192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "-" 408 0 "GET /x HTTP/1.1" "-"`, Entry{}, reasonRequest},
		{"an error log", `2026/11/29 10:20:30 [error] 7#7: *1 open() "/usr/share/x" failed (2: No such file)`, Entry{}, reasonUnknown},
		{"other JSON", `{"level":"info","msg":"started"}`, Entry{}, reasonUnknown},
		{"half of an object", `{"level":"info","msg`, Entry{}, reasonUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := parse(c.line)
			if why != c.why || why == "" && !got.Time.Equal(c.want.Time) {
				t.Errorf("%q at %v, want %q at %v", why, got.Time, c.why, c.want.Time)
			}
			got.Time, c.want.Time = time.Time{}, time.Time{}
			if d := cmp.Diff(c.want, got); d != "" && c.why == "" {
				t.Error(d)
			}
		})
	}
}

func TestStatusesBeforeTheRequestAndEscapedPaths(t *testing.T) {
	for line, want := range map[string]string{
		`haproxy[1]: 192.0.2.7:1 [29/Nov/2026:10:20:30.000] in~ b/<NOSRV> 0/0/0/-1/63387    504 194 - - sH-- 1/1/1/1/0 0/0 "GET /a HTTP/1.1"`: "504 /a",
		`2026-11-29T10:20:30.000000Z lb 192.0.2.7:2817 - -1 -1 -1 503 0 0 29 "GET http://h:80/b HTTP/1.1" "curl" - -`:                         "503 /b",
		`192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] "GET /\x22a\xc3\xa9\"é\\?q=1 HTTP/1.1" 200 5`:                                             "200 /%22a%C3%A9%22%C3%A9%5C?q=1",
	} {
		if e, why := parse(line); why != "" || fmt.Sprintf("%d %s", e.Status, e.Path) != want {
			t.Errorf("%s\n got %d %s %s\nwant %s", line, e.Status, e.Path, why, want)
		}
	}
}

func TestRoutes(t *testing.T) {
	for path, want := range map[string]string{
		"/users/17/orders?page=2":                       "GET /users/{id}/orders",
		"/a/018f3c1e-7a2b-7c3d-8e4f-5a6b7c8d9e0f/b":     "GET /a/{id}/b",
		"/static/app.3f2a9c.js":                         "GET /static/app.3f2a9c.js",
		"/blob/da39a3ee5e6b4b0d3255bfef95601890":        "GET /blob/{id}",
		"/v1/t/eyJhbGciOiJIUzI1NiJ9_1234567890abcde":    "GET /v1/t/{id}",
		"/r/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjg": "GET /r/{id}",
		"/cart;jsessionid=A1B2/17;v=2":                  "GET /cart/{id}",
		"/":                                             "GET /",
		"/about-our-long-company-history":               "GET /about-our-long-company-history",
		// Keys with a prefix, ULIDs, nanoids, cuids, ids of videos, of pods and of machines.
		"/c/cus_9s6XKzkNRiz8i3":          "GET /c/{id}",
		"/c/cus_NffrFeUfNV2Hib":          "GET /c/{id}",
		"/p/pi_3MtwBwLkdIwHu7ix28a3tqPa": "GET /p/{id}",
		"/u/01ARZ3NDEKTSV4RRFFQ69G5FAV":  "GET /u/{id}",
		"/u/01arz3ndektsv4rrffq69g5fav":  "GET /u/{id}",
		"/n/V1StGXR8_Z5jdHi6B-myT":       "GET /n/{id}",
		"/n/cjld2cjxh0000qzrmn831i7rn":   "GET /n/{id}",
		"/watch/dQw4w9WgXcQ":             "GET /watch/{id}",
		"/pods/web-7d4b9c6f5d-x2k9q/log": "GET /pods/{id}/log",
		"/ec2/i-0abcd1234efab5678":       "GET /ec2/{id}",
		"/commit/3f2a9c1b":               "GET /commit/{id}",
		// Words with a number.
		"/posts/how-to-cook-1234": "GET /posts/{id}",
		"/posts/1234-how-to-cook": "GET /posts/{id}",
		"/days/2026-11-29":        "GET /days/{id}",
		// Files: their extension and their words stay.
		"/static/app.3f2a9c1b.js":            "GET /static/app.{id}.js",
		"/static/main.8c1f2e3d.chunk.js.map": "GET /static/main.{id}.chunk.js.map",
		"/assets/index-BxY8s2Kq.css":         "GET /assets/index-{id}.css",
		"/photos/17.jpg":                     "GET /photos/{id}.jpg",
		"/photos/IMG_20261129.jpg":           "GET /photos/{id}.jpg",
	} {
		if got := (&Entry{Method: "GET", Path: path}).Route(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{
		"/api/v1", "/apis/apps/v2beta1", "/v1.2.3/x", "/v10alpha12", "/1.2.3", "/dist/1.0.0.tgz", "/jquery-3.6.0.min.js", "/bootstrap.min.css", "/clip.mp4",
		"/oauth2/token", "/utf-8", "/sha-256", "/iso-8859-1", "/area-51", "/page-2", "/top-100", "/http2-push", "/base64url", "/sha256sum", "/x86_64",
		"/getting-started-with-http2-servers", "/mp3-to-mp4-h264-h265-converter", "/iPhone-15-Pro-vs-iPhone-14-Pro", "/getOAuth2TokenForUser", "/rpc.Shop/GetUser2FAByName",
		"/user_profile_settings", "/internationalization", "/deadbeef", "/face2face", "/windows10vs11", "/.well-known/openid-configuration", "/@user/react@18.2.0", "/caf%C3%A9",
	} {
		if got := (&Entry{Path: path}).Route(); got != "GET "+path {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// A log of an hour: 3 requests each second to one route and its ids, a burst, and what cannot be
// repeated.
func TestTrafficOfALog(t *testing.T) {
	var log strings.Builder
	line := func(second int, request string, status int) {
		at := time.Date(2026, 11, 29, 10, 0, second, 0, time.UTC)
		fmt.Fprintf(&log, "192.0.2.7 - - [%s] \"%s HTTP/1.1\" %d 5 \"-\" \"-\"\n", at.Format("02/Jan/2006:15:04:05 -0700"), request, status)
	}
	for s := range 120 {
		line(s, fmt.Sprintf("GET /users/%d", s%4), 200)
		line(s, "GET /", 200)
		line(s, "POST /orders", 201)
	}
	for range 60 {
		line(30, "GET /search?q=a", 200)
	}
	line(40, "GET /gone", 404)
	log.WriteString("\nstarted\n")
	got, err := Of(strings.NewReader(log.String()))
	if err != nil {
		t.Fatal(err)
	}
	if got.Lines != 422 || got.Used != 300 || len(got.Hosts) != 0 {
		t.Errorf("%d lines, %d used, hosts %v", got.Lines, got.Used, got.Hosts)
	}
	want := []Count{{"POST, whose body is not in the log", 120}, {"answered with status 404", 1}, {reasonUnknown, 1}}
	if d := cmp.Diff(want, got.Skipped); d != "" {
		t.Error(d)
	}
	var routes []string
	for _, r := range got.Routes {
		routes = append(routes, fmt.Sprintf("%s %d of %d", r.Route, r.Count, r.Distinct))
	}
	if d := cmp.Diff([]string{"GET / 120 of 1", "GET /users/{id} 120 of 4", "GET /search 60 of 1"}, routes); d != "" {
		t.Error(d)
	}
	// Of two of the four users, which together stand for all.
	mix := []Request{{"GET /", 2, "", "/"}, {"GET /users/{id}", 1, "", "/users/0"}, {"GET /users/{id}", 1, "", "/users/1"}, {"GET /search", 1, "", "/search?q=a"}}
	if d := cmp.Diff(mix, got.Mix(2)); d != "" {
		t.Error(d)
	}
	a := got.Arrivals
	if a.Requests != 421 || a.BusiestSecond != 63 || a.BusiestMinute != 4.0+1.0/60 || a.Mean != 421.0/120 {
		t.Errorf("%+v", a)
	}
	// 118 seconds of 3, one of 63 and one of 4.
	mean := 421.0 / 120
	if want := ((118*9+63*63+16)/120.0 - mean*mean) / mean; a.Dispersion < want-1e-9 || a.Dispersion > want+1e-9 {
		t.Errorf("dispersion %v, want %v", a.Dispersion, want)
	}
	if len(a.Hours) != 1 || a.Hours[0].Requests != 421 {
		t.Errorf("%+v", a.Hours)
	}
}

// IIS and CloudFront name their fields, which may change within a file.
func TestW3C(t *testing.T) {
	log := "\ufeff#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: 2026-11-29 10:20:00\r\n" +
		"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs-host sc-status sc-substatus time-taken\r\n" +
		"2026-11-29 10:20:30 192.0.2.1 GET /m/a.ashx pid=2&l=1 443 - 192.0.2.7 Mozilla/5.0+(X11) shop.example:443 200 0 1500\r\n" +
		"2026-11-29 10:20:31 192.0.2.1 POST /m - 443 - 192.0.2.7 - - 302 0 0\r\n" +
		"#Version: 1.0\n#Fields: date time x-edge-location cs-method cs(Host) cs-uri-stem sc-status cs-uri-query x-host-header time-taken\n" +
		"2026-11-29\t10:20:32\tFRA2\tGET\td1.cloudfront.net\t/b\t304\t-\tcdn.example\t0.250\n" +
		"2026-11-29\t10:20:33\tFRA2\tGET\td1.cloudfront.net\t*\t400\t-\tcdn.example\t2\n" +
		"192.0.2.7 - - [29/Nov/2026:10:20:30 +0000] \"GET /nginx HTTP/1.1\" 200 5\n" +
		"2026-11-29\t10:20:34\tFRA2\tGET\td1.cl"
	var got []string
	lines, skipped, err := Read(strings.NewReader(log), func(e Entry) {
		got = append(got, fmt.Sprintf("%s %s %s %s %d %v", e.Time.Format("05.000"), e.Method, e.Host, e.Path, e.Status, e.Took))
	})
	want := []string{"30.000 GET shop.example /m/a.ashx?pid=2&l=1 200 1.5s", "31.000 POST  /m 302 0s", "32.000 GET cdn.example /b 304 250ms", "30.000 GET  /nginx 200 0s"}
	if d := cmp.Diff(want, got); d != "" || err != nil || lines != 6 {
		t.Errorf("%d lines, %v\n%s", lines, err, d)
	}
	if d := cmp.Diff(map[string]int{reasonFields: 1, reasonNoPath: 1}, skipped); d != "" {
		t.Error(d)
	}
}

// HAProxy logs its local time without the zone.
func TestTimesWithoutAZone(t *testing.T) {
	const zoned, local = `h - - [29/Nov/2026:10:20:30 +0100] "GET / HTTP/1.1" 200 5`, `h:1 [29/Nov/2026:10:20:30.5] in~ b/c 0/0/0/1/6 200 1 - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1"`
	for log, want := range map[string]bool{zoned: false, local: true, zoned + "\n" + local: true} {
		got, err := Of(strings.NewReader(log))
		if err != nil || got.Arrivals.ZoneUnknown != want {
			t.Errorf("%v, %+v", err, got.Arrivals)
		}
		if p, _ := replayOf(t, How{}, log); p.ZoneUnknown != want {
			t.Errorf("%+v", p)
		}
	}
}

func TestALogWithoutARequest(t *testing.T) {
	for log, want := range map[string]string{
		"":                       "it is empty",
		"started\nstopped\n":     "2 of 2 lines are left out, 2 " + reasonUnknown,
		strings.Repeat("x", 3e6): "1 of 1 lines are left out, 1 " + reasonLong,
	} {
		if _, err := Of(strings.NewReader(log)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", log, err, want)
		}
	}
}

// Whatever the bytes: each line is used or left out for a reason, and the mix has only paths.
func FuzzOf(f *testing.F) {
	f.Add([]byte(`192.0.2.7 - - [29/Nov/2026:12:20:30 +0200] "GET /a HTTP/1.1" 200 612 "-" "-"`))
	f.Add([]byte(`{"ts":1795947630.0,"request":{"method":"GET","uri":"/a"},"status":200}`))
	f.Add([]byte("#Fields: date time cs-method cs-uri time-taken\n2026-11-29 10:20:30 GET /a?b 1e300\n2026-11-29 10:20:30 GET {{a"))
	f.Add([]byte("\x00\xff\n[29/Nov/2026:12:20:30] \"\\\n{\"request\":\"GET / HTTP/1.1\"}"))
	f.Fuzz(func(t *testing.T, log []byte) {
		got, err := Of(strings.NewReader(string(log)))
		if got == nil {
			t.Fatal(err)
		}
		all := got.Used
		for _, s := range got.Skipped {
			all += s.Count
		}
		if all != got.Lines || (err == nil) != (got.Used > 0) {
			t.Errorf("%d of %d lines, %v", all, got.Lines, err)
		}
		for _, r := range got.Mix(3) {
			if r.Weight < 1 || !strings.HasPrefix(r.Path, "/") {
				t.Errorf("%+v", r)
			}
		}
	})
}
