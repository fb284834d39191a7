package captured

import "testing"

// The examples of vegeta's README.
func TestTargets(t *testing.T) {
	wantRequests(t, Targets, `GET http://goku:9090/path/to/dragon?item=ball
GET http://user:password@goku:9090/path/to
HEAD http://goku:9090/path/to/success
`, "GET goku:9090 /path/to/dragon?item=ball", "GET goku:9090 /path/to [Authorization: Basic dXNlcjpwYXNzd29yZA==]", "HEAD goku:9090 /path/to/success")
	wantRequests(t, Targets, "GET http://user:password@goku:9090/path/to\r\nX-Account-ID: 8675309\r\n\r\nDELETE http://goku:9090/path/to/remove\r\nConfirmation-Token: 90215\r\nAuthorization: Token DEADBEEF\r\n",
		"GET goku:9090 /path/to [Authorization: Basic dXNlcjpwYXNzd29yZA==; X-Account-ID: 8675309]",
		"DELETE goku:9090 /path/to/remove [Authorization: Token DEADBEEF; Confirmation-Token: 90215]")
	wantRequests(t, Targets, `# orders
POST http://goku:9090/things
@/path/to/newthing.json

# a comment between

PATCH http://goku:9090/thing/71988591
X-A: 1
# a comment within
X-A: 2
@thing.json
GET http://goku:9090/`,
		"POST goku:9090 /things @/path/to/newthing.json",
		"PATCH goku:9090 /thing/71988591 [X-A: 1, 2] @thing.json",
		"GET goku:9090 /")
	wantRequests(t, Targets, `{"method": "POST", "url": "http://goku:9090/", "body": "eyJhIjoxfQ==", "header": {"Content-Type": ["application/json"], "X": ["1", "2"]}}

{"method":"GET","url":"http://goku:9090/x","header":null}
`, `POST goku:9090 / [Content-Type: application/json; X: 1, 2] {"a":1}`, "GET goku:9090 /x")
}

func TestLines(t *testing.T) {
	wantRequests(t, Lines, `{"method": "POST", "url": "http://127.0.0.1:8080/orders", "headers": {"Content-Type": "application/json", "X-N": 5, "X-B": true}, "body": "{\"id\": {{seq}}}", "weight": 7}
{"path": "/"}`,
		`POST 127.0.0.1:8080 /orders [Content-Type: application/json; X-B: true; X-N: 5] {"id": {{seq}}} ×7`, "GET /")
}
