package program

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The names of these keys are no names of secrets: only the description says that they are keys.
func TestSecretsThatADescriptionNames(t *testing.T) {
	g := guard(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place, err := r.Cookie("place")
		if err != nil || r.Header.Get("X-Tenant") != "Mark3r-header" || r.URL.Query().Get("shop") != "Mark3r-query" || place.Value != "Mark3r-cookie" {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer service.Close()
	file := g.file("shop.yaml", `openapi: 3.0.3
info: {title: shop, version: "1"}
security: [{tenant: [], shop: [], place: []}]
components:
  securitySchemes:
    tenant: {type: apiKey, in: header, name: X-Tenant}
    shop: {type: apiKey, in: query, name: shop}
    place: {type: apiKey, in: cookie, name: place}
paths:
  /a: {get: {}}
  /b: {get: {parameters: [{name: X-Tenant, in: header, required: true, schema: {type: string}}, {name: shop, in: query, schema: {type: string}}]}}
`)
	given := []string{"-c", "1", "-d", "1s", "--threshold", "errors<1%", "--openapi", file, "--param", "shop=Mark3r-query", "--param", "place=Mark3r-cookie"}
	g.ends(0, append([]string{"load", "--param", "X-Tenant=Mark3r-header", "--out", "load", service.URL}, given...)...)
	g.ends(0, append([]string{"load", "--param", "X-Tenant=Mark3r-header", "--json", service.URL}, given...)...)
	g.ends(0, append([]string{"load", "-H", "X-Tenant: Mark3r-header", "--out", "header", service.URL}, given...)...)
	g.ends(99, append([]string{"load", "--param", "X-Tenant=Mark3r-wrong", "--out", "wrong", service.URL}, given...)...)
	g.clean("load", "header", "wrong")
}

// What a session sends and captures is in no record: not the password of its login, not the
// values that the service gives, and not the cookies; also if the service repeats them.
func TestSecretsOfASession(t *testing.T) {
	g := guard(t)
	refuse := false
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("visit")
		switch known := err == nil && cookie.Value == "Mark3r-visit" && r.Header.Get("X-Pass") == "Mark3r-pass"; {
		case r.URL.Path == "/login" && r.FormValue("password") == "Mark3r-login":
			http.SetCookie(w, &http.Cookie{Name: "visit", Value: "Mark3r-visit"})
			fmt.Fprint(w, `{"pass": "Mark3r-pass"}`)
		case r.URL.Path == "/orders/Mark3r-pass" && known && !refuse:
			fmt.Fprint(w, "ok")
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "%s %v %s", r.URL, cookie, r.Header.Get("X-Pass"))
		}
	}))
	defer service.Close()
	file := g.file("visit.jsonl", `{"method": "POST", "path": "/login", "headers": {"Content-Type": "application/x-www-form-urlencoded"}, "body": "user=u&password=Mark3r-login", "capture": {"pass": "json:$.pass"}}
{"path": "/orders/{{pass}}", "headers": {"X-Pass": "{{pass}}"}}
`)
	for _, refuse = range []bool{false, true} {
		code := map[bool]int{false: 0, true: 99}[refuse]
		given := []string{"-c", "1", "-d", "1s", "--threshold", "errors<1%", "--session", file}
		g.ends(code, append([]string{"load", "--out", fmt.Sprint("refused-", refuse), service.URL}, given...)...)
		g.ends(code, append([]string{"load", "--json", service.URL}, given...)...)
		g.clean(fmt.Sprint("refused-", refuse))
	}
}
