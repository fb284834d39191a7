package captured

import "testing"

// As browsers write them: Chrome with pseudo-headers, its own fields and data: URLs; Firefox
// with postData that has no text; k6 and others with fields of other types.
func TestHAR(t *testing.T) {
	in := wantRequests(t, HAR, `{"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "entries": [
 {"_initiator": {"type": "other"}, "_resourceType": "document", "cache": {}, "time": 12.5, "request": {"method": "GET", "url": "https://shop.example/", "httpVersion": "http/2.0", "bodySize": 0, "headersSize": -1, "queryString": [], "cookies": [{"name": "s", "value": "1"}],
  "headers": [{"name": ":authority", "value": "shop.example"}, {"name": ":method", "value": "GET"}, {"name": ":path", "value": "/"}, {"name": "accept", "value": "text/html"}, {"name": "accept-encoding", "value": "gzip, br"}, {"name": "cookie", "value": "s=1"}, {"name": "cookie", "value": "t=2"}]},
  "response": {"status": 200, "content": {"size": 5, "mimeType": "text/html", "text": "hello"}}},
 {"request": {"method": "GET", "url": "https://shop.example/", "headers": [{"name": "GET /?u=http", "value": "//x/ HTTP/1.1"}, {"name": "accept", "value": "text/html"}, {"name": "cookie", "value": "s=1; t=2"}]}},
 {"request": {"method": "POST", "url": "https://shop.example/api?x=1#f", "bodySize": 9, "headers": [{"name": "Content-Type", "value": "application/json"}, {"name": "Content-Length", "value": "9"}], "postData": {"mimeType": "application/json", "text": "{\"a\": 1}\n"}}},
 {"request": {"method": "POST", "url": "https://shop.example/form", "headers": [], "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "1&2"}, {"name": "c", "value": "ü"}]}}},
 {"request": {"method": "GET", "url": "https://shop.example/f.css", "httpVersion": "", "bodySize": 0, "headers": [], "postData": {"mimeType": "", "params": []}}, "response": {"status": 0}},
 {"request": {"method": "PUT", "url": "https://shop.example/b", "headers": [], "postData": {"encoding": "base64", "text": "aMOkCg=="}}},
 {"request": {"method": "PUT", "url": "https://shop.example/b", "headers": [], "postData": {"encoding": "base64", "text": "/w=="}}},
 {"request": {"method": "POST", "url": "https://shop.example/gone", "bodySize": 5, "headers": []}},
 {"request": {"method": "POST", "url": "https://shop.example/z", "headers": [{"name": "Content-Encoding", "value": "gzip"}], "postData": {"text": "x"}}},
 {"request": {"method": "POST", "url": "https://shop.example/up", "headers": [], "postData": {"mimeType": "multipart/form-data; boundary=x", "params": [{"name": "f", "fileName": "a.png"}]}}},
 {"_fromCache": "disk", "request": {"method": "GET", "url": "https://shop.example/logo.png", "headers": []}},
 {"request": {"method": "GET", "url": "data:image/png;base64,AAAA", "headers": []}},
 {"request": {"method": "GET", "url": "data:image/gif;base64,AAAA", "headers": []}},
 {"request": {"method": "GET", "url": "blob:https://shop.example/1-2", "headers": []}},
 {"request": {"method": "GET", "url": "wss://shop.example/live", "headers": []}},
 {"request": {"method": "GET", "url": "chrome-extension://abc/x.js", "headers": []}},
 {"request": {"method": "CONNECT", "url": "shop.example:443", "headers": []}, "response": {"status": -1}},
 {"request": {"method": "GET", "url": "", "headers": null}},
 {"request": {"method": "GET", "url": 5}},
 {},
 {"request": {"method": "GET", "url": "https://ads.example/t?u={{id}}", "headers": []}}
]}}`,
		"GET https:shop.example / [accept: text/html; cookie: s=1; t=2] ×2",
		"POST https:shop.example /api?x=1 [Content-Type: application/json] {\"a\": 1}\n",
		"POST https:shop.example /form a+b=1%262&c=%C3%BC",
		"GET https:shop.example /f.css",
		"PUT https:shop.example /b hä\n",
		`GET https:ads.example /t?u={{"{{"}}id}}`)
	if want := `1 with a body that is not text, 1 whose body was not recorded, 1 with a compressed body, 1 with a form of files, which was not recorded whole, ` +
		`1 that the browser's cache answered, 2 with a data: URL, 1 with a blob: URL, 1 with a wss: URL, 1 with a chrome-extension: URL, 1 with the method "CONNECT", 2 without a URL, 1 without a request`; in.SkippedWords() != want {
		t.Errorf("%s\nwant %s", in.SkippedWords(), want)
	}
	skipped := 0
	for _, s := range in.Skipped {
		skipped += s.Entries
	}
	if in.Entries != 21 || skipped != 14 {
		t.Errorf("%d entries, %d skipped", in.Entries, skipped)
	}
	if s := in.For(""); s.Host != "shop.example" || s.Entries != 6 || len(s.Dropped) != 1 {
		t.Errorf("%+v", s)
	}
}
