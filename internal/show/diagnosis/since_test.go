package diagnosis_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/show/diagnosis"
)

var monday = time.Date(2026, 11, 23, 13, 0, 0, 0, time.UTC)

// baseline is a host as it was on Monday.
func baseline(t *testing.T, h inspect.Host) *diagnosis.Baseline {
	t.Helper()
	var b bytes.Buffer
	if err := diagnosis.JSON(&b, h, doctor.Examine(h), diagnosis.View{Run: diagnosis.Run{Host: "node-1", Time: monday, Version: "v1"}}); err != nil {
		t.Fatal(err)
	}
	read, err := diagnosis.ReadBaseline(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func all(diagnosis.Past) bool { return true }

// shop is a host whose services have names of their own.
func shop(services ...inspect.Process) inspect.Host {
	for i := range services {
		services[i].PID += 1000 * i
	}
	return host(services...)
}

func TestCompare(t *testing.T) {
	cart := func(throttled int64) inspect.Process { return named(api(42, 8, 1.9, throttled), "cart") }
	stock := func(share float64) inspect.Process { return full(named(api(43, 2, 1, 0), "stock"), share) }
	for _, test := range []struct {
		name          string
		before, now   inspect.Host
		level         doctor.Level
		states        []string
		gone          []string
		same          int
		failsCritical bool
	}{
		{"the same", shop(cart(38)), shop(cart(40)), doctor.Warning, nil, nil, 1, false},
		{"a new one", shop(stock(0.5), cart(38)), shop(stock(0.95), cart(38)), doctor.Warning, []string{"stock new"}, nil, 1, false},
		{"the level rose", shop(cart(20)), shop(cart(26)), doctor.Warning, []string{"cart worse"}, nil, 0, true},
		{"the level fell", shop(cart(26)), shop(cart(20)), doctor.Warning, nil, nil, 1, false},
		{"the figure rose by less than its amount", shop(cart(30)), shop(cart(54)), doctor.Warning, nil, nil, 1, false},
		{"the figure rose by its amount", shop(cart(30)), shop(cart(55)), doctor.Warning, []string{"cart worse"}, nil, 0, true},
		{"memory rose by its amount", shop(stock(0.905)), shop(stock(0.96)), doctor.Warning, []string{"stock worse"}, nil, 0, false},
		{"it was an observation", shop(cart(0)), shop(cart(38)), doctor.Warning, []string{"cart new"}, nil, 0, true},
		{"an observation is asked for", shop(stock(0.5)), shop(stock(0.5), cart(0)), doctor.Info, []string{"cart new"}, nil, 0, false},
		{"it is an observation", shop(cart(38)), shop(cart(0)), doctor.Warning, nil, []string{"cart"}, 0, false},
		{"another pid and pod", shop(cart(38)), shop(named(api(77, 8, 1.9, 38), "cart")), doctor.Warning, nil, nil, 1, false},
		{"two processes of one service", shop(cart(38)), shop(cart(38), cart(95)), doctor.Warning, nil, nil, 1, false},
		{"it does not run", shop(stock(0.95), cart(38)), shop(cart(38)), doctor.Warning, nil, []string{"stock"}, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := baseline(t, test.before).Compare(test.now, doctor.Examine(test.now), test.level, all)
			var states, gone []string
			for i := range s.Found {
				states = append(states, s.Found[i].Name+" "+s.State(&s.Found[i]))
			}
			for _, p := range s.Gone {
				gone = append(gone, p.Name)
			}
			if diff := cmp.Diff([]any{test.states, test.gone, test.same}, []any{states, gone, s.Same}); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if got := doctor.AtLeast(s.Found, doctor.Critical); got != test.failsCritical {
				t.Errorf("at critical: %v", got)
			}
		})
	}
}

// What was not inspected is not gone, and what is suppressed neither.
func TestCompareOfAPart(t *testing.T) {
	stock, cart := full(named(api(43, 2, 1, 0), "stock"), 0.95), named(api(42, 8, 1.9, 38), "cart")
	b := baseline(t, shop(stock, cart))
	part := shop(cart)
	part.Partial = true
	if s := b.Compare(part, doctor.Examine(part), doctor.Warning, all); len(s.Gone) != 0 || s.Same != 1 {
		t.Errorf("of a part: gone %v, same %d", s.Gone, s.Same)
	}
	keep := func(p diagnosis.Past) bool { return p.Name != "stock" }
	if s := b.Compare(shop(cart), doctor.Examine(shop(cart)), doctor.Warning, keep); len(s.Gone) != 0 || s.Same != 1 {
		t.Errorf("suppressed: gone %v, same %d", s.Gone, s.Same)
	}
}

func TestTextSinceABaseline(t *testing.T) {
	stock, search := full(named(api(43, 2, 1, 0), "stock"), 0.95), named(api(44, 8, 1.9, 38), "search")
	cart := func(throttled int64) inspect.Process { return named(api(42, 8, 1.9, throttled), "cart") }
	b := baseline(t, host(cart(20), stock))
	now := host(cart(38), search)
	view := diagnosis.View{Run: diagnosis.Run{Host: "node-1", Time: monday.AddDate(0, 0, 7)}, Notes: []string{"1 finding suppressed by a.yaml."}}
	view.Since = b.Compare(now, doctor.Examine(now), doctor.Warning, all)
	var text strings.Builder
	if err := diagnosis.Write(&text, now, doctor.Examine(now), view, display.Terminal{Width: 100}); err != nil {
		t.Fatal(err)
	}
	const want = `1 new, 1 worse since 2026-11-23 13:00 UTC (7 days ago); 1 gone, 0 the same.
Why: more threads than the limit has CPUs use the quota up early.
Do: change the program's call of runtime.GOMAXPROCS to 2.

since  level     process  pid  problem            limit  used  throttled   before
worse  critical  cart      42  high parallelism  2 CPUs   95%        38%  warning
new    critical  search    44  high parallelism  2 CPUs   95%        38%        –

Gone: stock: uses 95% of its memory limit of 256 MiB (the service does not run here now).
Verify: millicore try --cpu 2 -- /app/api --port '${port}'
2 processes inspected, under a CPU limit, watched for 10 s. Evidence: --details.
1 finding suppressed by a.yaml.
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	text.Reset()
	view.Since = baseline(t, now).Compare(now, doctor.Examine(now), doctor.Warning, all)
	view.Run.Host = "node-2"
	if err := diagnosis.Write(&text, now, doctor.Examine(now), view, display.Terminal{Width: 100}); err != nil || !strings.HasPrefix(text.String(),
		"Nothing new or worse since 2026-11-23 13:00 UTC (7 days ago); 0 gone, 2 the same.\n") || !strings.Contains(text.String(), "The baseline is of another host, node-1.") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

func TestBadBaselines(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"schema\": 2,\n":   "3: not the output of millicore doctor --json: unexpected end of JSON input",
		"{\n\"schema\": \"a\"}": "2: not the output of millicore doctor --json: schema is a string",
		"{\"processes\": []}":   "1: schema 0, and this program reads 2: write the baseline again with millicore doctor --json",
		"{\"schema\": 2,\n\"findings\": [{\"level\": \"warning\"}]}": "2: a finding without a level and a fingerprint",
	} {
		if _, err := diagnosis.ReadBaseline([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
