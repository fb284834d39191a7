package captured

import (
	"slices"
	"strings"
	"testing"
)

const form = "Content-Type: application/x-www-form-urlencoded"

func TestCurl(t *testing.T) {
	for text, want := range map[string][]string{
		"curl http://127.0.0.1:8080/items?page=2#top": {"GET 127.0.0.1:8080 /items?page=2"},
		"$ curl h":                  {"GET h /"},
		"curl.exe localhost:8080/a": {"GET localhost:8080 /a"},
		"/usr/bin/curl -- http://h": {"GET h /"},
		"curl 'https://h:443?x=1'":  {"GET https:h /?x=1"},
		`curl -s -o /dev/null -w '%{http_code}' "http://h/$1"`:                               nil,
		"curl -sSfLko/dev/null -m5 http://h/":                                                {"GET h /"},
		"curl -XPUT -dx http://h/":                                                           {"PUT h / [" + form + "] x"},
		"curl -I http://h/":                                                                  {"HEAD h /"},
		"curl -X post http://h/":                                                             {"POST h /"},
		"curl -d a=1 -d b=2 http://h/":                                                       {"POST h / [" + form + "] a=1&b=2"},
		"curl -G -d a=1 -d b=2 http://h/?c=3":                                                {"GET h /?c=3&a=1&b=2"},
		"curl --get --data-urlencode 'q=a b&c' http://h/":                                    {"GET h /?q=a+b%26c"},
		"curl --data-urlencode 'a/b' --data-urlencode '=ü' http://h/":                        {"POST h / [" + form + "] a%2Fb&%C3%BC"},
		"curl --url-query 'q=a b' --url-query +r=%20 http://h/":                              {"GET h /?q=a+b&r=%20"},
		"curl -d @body.json -d b=2 http://h/":                                                {"POST h / [" + form + `] {"a": 1}&b=2`},
		"curl --data-urlencode q@dir/a.txt http://h/":                                        {"POST h / [" + form + "] q=one%0Atwo%0A"},
		"curl --data-raw @x http://h/":                                                       {"POST h / [" + form + "] @x"},
		"curl --data-binary @body.bin -H 'Content-Type: application/octet-stream' http://h/": {"POST h / [Content-Type: application/octet-stream] @body.bin"},
		`curl --json '{"a": ' --json '1}' http://h/`:                                         {`POST h / [Accept: application/json; Content-Type: application/json] {"a": 1}`},
		"curl -H 'A: b' -H 'a: c' -H 'Empty;' -H 'Accept:' http://h/":                        {"GET h / [A: b, c; Empty: ]"},
		"curl -d x -H 'Content-Type:' http://h/":                                             {"POST h / x"},
		"curl -d '{}' -H 'content-type: application/json' h":                                 {"POST h / [content-type: application/json] {}"},
		"curl -A agent -e 'http://r/;auto' -b 'a=1; b=2' -b c=3 http://h/":                   {"GET h / [Cookie: a=1; b=2; c=3; Referer: http://r/; User-Agent: agent]"},
		"curl -u user:pass http://h/":                                                        {"GET h / [Authorization: Basic dXNlcjpwYXNz]"},
		"curl http://user:p%40ss@h/":                                                         {"GET h / [Authorization: Basic dXNlcjpwQHNz]"},
		"curl --oauth2-bearer abc http://h/":                                                 {"GET h / [Authorization: Bearer abc]"},
		"curl -r 0-99 http://h/":                                                             {"GET h / [Range: bytes=0-99]"},
		"curl -r 600 http://h/":                                                              {"GET h / [Range: bytes=600-]"},
		"curl --compressed -H 'Accept-Encoding: gzip' -H 'Connection: close' http://h/":      {"GET h /"},
		"curl http://h/a http://h/b --url http://h/a":                                        {"GET h /a ×2", "GET h /b"},
		"curl http://h/a ;\ncurl http://h/b":                                                 {"GET h /a", "GET h /b"},
		"curl -g 'http://h/[1-3]{a}'":                                                        {"GET h /[1-3]{a}"},
		"curl 'http://[::1]:8080/x'":                                                         {"GET [::1]:8080 /x"},
		"curl 'http://h/ä b'":                                                                {"GET h /%C3%A4%20b"},
		"curl --no-keepalive --no-compressed --http1.1 --retry 3 http://h/":                  {"GET h /"},
		"curl http://h/a \\\n  -H 'A: b' \\\r\n  -H \"C: \\\"d\\\" \\x\"":                    {`GET h /a [A: b; C: "d" \x]`},
		"curl http://h/a\\ b\\?":                                                             {"GET h /a%20b?"},
		`curl h -d $'it\'s\n\u0021\x41\101\\ \ud83d\ude00 \U0001F600'`:                       {"POST h / [" + form + "] it's\n!AA\\ 😀 😀"},
	} {
		if want == nil {
			if _, err := Read(Curl, []byte(text), testFiles); err == nil {
				t.Errorf("%s: no error", text)
			}
			continue
		}
		wantRequests(t, Curl, text, want...)
	}
}

// TestForms: what curl 7.88 sends, but for the boundary.
func TestForms(t *testing.T) {
	in, err := Read(Curl, []byte(`curl -F 'name=O"Neil;x' -F pic=@a.png -F 'note=<dir/a.txt' -F 'doc=@dir/a.txt;type=text/markdown;filename=b.md' --form-string 's=@a;type=b' http://h/`), testFiles)
	if err != nil {
		t.Fatal(err)
	}
	r := in.Requests[0]
	boundary, ok := strings.CutPrefix(r.Headers["Content-Type"], "multipart/form-data; boundary=")
	want := strings.ReplaceAll(`--B
Content-Disposition: form-data; name="name"

O"Neil;x
--B
Content-Disposition: form-data; name="pic"; filename="a.png"
Content-Type: image/png

PNG|
--B
Content-Disposition: form-data; name="note"

one|two|
--B
Content-Disposition: form-data; name="doc"; filename="b.md"
Content-Type: text/markdown

one|two|
--B
Content-Disposition: form-data; name="s"

@a;type=b
--B--
`, "\n", "\r\n")
	want = strings.ReplaceAll(strings.ReplaceAll(want, "|", "\n"), "--B", "--"+boundary)
	if !ok || r.Method != "POST" || r.Body != want {
		t.Errorf("%s %v\n got %q\nwant %q", r.Method, r.Headers, r.Body, want)
	}
}

// As Chrome 131 writes "Copy as cURL (bash)" and "Copy as cURL (cmd)" of one request, and as
// older versions wrote the second.
func TestCopiedFromBrowsers(t *testing.T) {
	const want = `POST https:shop.example /api/orders?a=1&b=%20 [Cookie: session=abc; accept: */*; content-type: application/json; ` +
		`sec-ch-ua: "Chromium";v="131"; user-agent: Mozilla/5.0 (X11)] {"name":"O'Neil 100%","note":"a\"b"}`
	for _, text := range []string{`curl 'https://shop.example/api/orders?a=1&b=%20' \
  -H 'accept: */*' \
  -H 'content-type: application/json' \
  -b 'session=abc' \
  -H 'sec-ch-ua: "Chromium";v="131"' \
  -H 'user-agent: Mozilla/5.0 (X11)' \
  --data-raw $'{"name":"O\'Neil 100%","note":"a\\"b"}' \
  --compressed`, "curl ^\"https://shop.example/api/orders?a=1^&b=^%^20^\" ^\r\n" +
		"  -H ^\"accept: */*^\" ^\r\n" +
		"  -H ^\"content-type: application/json^\" ^\r\n" +
		"  -b ^\"session=abc^\" ^\r\n" +
		"  -H ^\"sec-ch-ua: ^\\^\"Chromium^\\^\";v=^\\^\"131^\\^\"^\" ^\r\n" +
		"  -H ^\"user-agent: Mozilla/5.0 (X11)^\" ^\r\n" +
		"  --data-raw ^\"^{^\\^\"name^\\^\":^\\^\"O'Neil 100^%^\\^\",^\\^\"note^\\^\":^\\^\"a^\\^\\^\\^\"b^\\^\"^}^\"", `curl "https://shop.example/api/orders?a=1&b=%20" ^
  -H "accept: */*" ^
  -H "content-type: application/json" ^
  -b "session=abc" ^
  -H "sec-ch-ua: \"Chromium\";v=\"131\"" ^
  -H "user-agent: Mozilla/5.0 (X11)" ^
  --data-raw "{\"name\":\"O'Neil 100%\",\"note\":\"a\\\"b\"}" ^
  --compressed`} {
		wantRequests(t, Curl, text, want)
	}
}

func TestWindowsQuoting(t *testing.T) {
	for text, want := range map[string][]string{
		"curl ^\"http://h/^\" ^\n  --data-raw ^\"a^\n\nb^\"": {"POST h / [" + form + "] a\nb"},
		"curl ^\"http://h/a^\" &\r\ncurl ^\"http://h/b^\"":   {"GET h /a", "GET h /b"},
		"curl \"http://h/a^b\" ^\n -d \"x\"\"y\\\\\"":        {"POST h /a^b [" + form + "] x\"y\\"},
	} {
		wantRequests(t, Curl, text, want...)
	}
}

func TestWhatOfCurlHasNoEffectIsNamed(t *testing.T) {
	in := wantRequests(t, Curl, "curl -kL --insecure --http2 -s -H 'Host: shop.example' -m 5 http://127.0.0.1/", "GET 127.0.0.1 /")
	if want := []string{"-k", "-L", "--insecure", "--http2", "-H Host", "-m"}; !slices.Equal(in.Unused, want) {
		t.Errorf("%q", in.Unused)
	}
}
