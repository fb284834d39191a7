package contract

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

const (
	// sharedKey is the counter of all checks that need one to be there and do
	// not look at its value.
	sharedKey = "shared"
	// absentKey is a counter that no check makes.
	absentKey = "absent"
	// maxKeys is how many counters a service keeps.
	maxKeys = 1024
)

// counter is what the routes of a counter answer.
type counter struct {
	Key   string `json:"key"`
	Value uint64 `json:"value"`
}

func adding(key string, n uint64) request {
	return request{method: http.MethodPost, path: fmt.Sprintf("/counter/%s?n=%d", key, n)}
}

// add adds n to a counter, which must succeed, and returns the value in the answer.
func (s service) add(t *testing.T, key string, n uint64) uint64 {
	t.Helper()
	value := s.do(t, adding(key, n)).wantCounter(t, key)
	s.made[key] = true
	return value
}

// wantCounter checks that the answer is the counter key, byte for byte, and returns its
// value.
func (r reply) wantCounter(t *testing.T, key string) uint64 {
	t.Helper()
	r.wantJSONHeaders(t, http.StatusOK)
	var got counter
	strictly(t, r.body, &got)
	r.wantJSON(t, http.StatusOK, counterJSON(key, got.Value))
	return got.Value
}

func counterJSON(key string, value uint64) string {
	return fmt.Sprintf(`{"key":%q,"value":%d}`, key, value)
}

// counts takes keys that are as long as they may be, that differ by case alone,
// and that every JavaScript object has before anybody made them.
func (s service) counts(t *testing.T) {
	const key64 = "0123456789-abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, key := range []string{"a", "A", "_", "-", "0", key64, "__proto__", "constructor", "toString"} {
		t.Run(key, func(t *testing.T) {
			s.get(t, "/counter/"+key).wantRefusal(t, http.StatusNotFound)
			sum := uint64(0)
			for _, n := range []uint64{1, 1000, 7} {
				sum += n
				if got := s.add(t, key, n); got != sum {
					t.Errorf("%d after adding %d, want %d", got, n, sum)
				}
				s.get(t, "/counter/"+key).wantJSON(t, http.StatusOK, counterJSON(key, sum))
			}
			sum += 5
			s.do(t, request{http.MethodPost, adding(key, 5).path, "text/plain", "a body"}).wantJSON(t, http.StatusOK, counterJSON(key, sum))
			s.get(t, "/counter/"+key+"?n=5").wantJSON(t, http.StatusOK, counterJSON(key, sum))
		})
	}
}

// countsAtOnce adds to few counters from many concurrent requests. None may be lost. The
// request that adds last returns the sum, so the highest answer must be the sum.
func (s service) countsAtOnce(t *testing.T) {
	keys := []string{"at-once-0", "at-once-1", "at-once-2"}
	var requests []request
	var adds []uint64
	sums := make([]uint64, len(keys))
	for i := range 60 {
		k, n := i%len(keys), uint64(1000+37*i)
		requests, adds = append(requests, adding(keys[k], n)), append(adds, n)
		sums[k] += n
	}
	most := make([]uint64, len(keys))
	for i, r := range s.atOnce(t, requests) {
		k := i % len(keys)
		value := r.wantCounter(t, keys[k])
		if value < adds[i] {
			t.Errorf("%s: got %d after adding %d", keys[k], value, adds[i])
		}
		most[k] = max(most[k], value)
	}
	for k, key := range keys {
		s.made[key] = true
		if most[k] != sums[k] {
			t.Errorf("%s: the highest answer is %d, want the sum %d", key, most[k], sums[k])
		}
		s.get(t, "/counter/"+key).wantJSON(t, http.StatusOK, counterJSON(key, sums[k]))
	}
}

func (s service) missesCounter(t *testing.T) {
	s.get(t, "/counter/"+absentKey).wantRefusal(t, http.StatusNotFound)
	s.get(t, "/counter/"+absentKey+"?n=1").wantRefusal(t, http.StatusNotFound)
}

func (s service) refusesCounter(t *testing.T) {
	for name, key := range map[string]string{
		"a dot":             "a.b",
		"a colon":           "a:b",
		"a tilde":           "a~b",
		"a plus":            "a+b",
		"a comma":           "a,b",
		"a space":           "a%20b",
		"an encoded slash":  "a%2Fb",
		"a zero byte":       "a%00b",
		"outside ASCII":     "%C3%A9",
		"of 65 letters":     strings.Repeat("a", 65),
		"of 10,000 letters": strings.Repeat("a", 10_000),
	} {
		t.Run("key: "+name, func(t *testing.T) {
			s.post(t, "/counter/"+key+"?n=1", "").wantRefusal(t, http.StatusBadRequest)
			s.get(t, "/counter/"+key).wantRefusal(t, http.StatusBadRequest)
		})
	}
	for name, query := range badLoops {
		t.Run("n: "+name, func(t *testing.T) {
			s.post(t, "/counter/"+absentKey+query, "").wantRefusal(t, http.StatusBadRequest)
		})
	}
	t.Run("and not made", func(t *testing.T) {
		s.get(t, "/counter/"+absentKey).wantRefusal(t, http.StatusNotFound)
	})
}

// limitsCounters fills the map up to some keys below its limit and then asks for
// twice as many as there is room for, at once: that many are made and not one
// more. Those that are there still count.
func (s service) limitsCounters(t *testing.T) {
	const room = 16
	s.add(t, sharedKey, 1) // which other checks may have made, not by add
	for i := 0; len(s.made) < maxKeys-room; i++ {
		s.add(t, "fill-"+strconv.Itoa(i), 1)
	}
	keys := make([]string, 2*room)
	requests := make([]request, len(keys))
	for i := range keys {
		keys[i] = "too-many-" + strconv.Itoa(i)
		requests[i] = adding(keys[i], 1)
	}
	made := 0
	for i, r := range s.atOnce(t, requests) {
		present := s.get(t, "/counter/"+keys[i])
		if r.status == http.StatusOK {
			made++
			r.wantCounter(t, keys[i])
			present.wantCounter(t, keys[i])
			continue
		}
		r.wantRefusal(t, http.StatusConflict)
		present.wantRefusal(t, http.StatusNotFound)
	}
	if made != room {
		t.Errorf("%d keys were made where there was room for %d of %d", made, room, maxKeys)
	}
	if before := s.get(t, "/counter/"+sharedKey).wantCounter(t, sharedKey); s.add(t, sharedKey, 5) != before+5 {
		t.Errorf("a full map no longer counts what it holds")
	}
	s.post(t, "/counter/"+absentKey+"?n=1", "").wantRefusal(t, http.StatusConflict)
}
