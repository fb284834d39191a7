package golang

import (
	"net/http"
	"sync"
)

const (
	// maxKeys is how many counters the map holds.
	maxKeys = 1024
	// maxKey is the longest key of a counter, in bytes.
	maxKey = 64
)

// counters are sums by key, in one map that the workers of all loops share. The
// one mutex is what the experiment with worker threads compares with Atomics.
type counters struct {
	loops loops
	mu    sync.Mutex
	sums  map[string]uint64
}

func newCounters(l loops) *counters {
	return &counters{loops: l, sums: make(map[string]uint64)}
}

// reserve creates a missing key, and reports whether the key exists now: a full map
// accepts no more keys.
func (c *counters) reserve(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.sums[key]; !ok {
		if len(c.sums) == maxKeys {
			return false
		}
		c.sums[key] = 0
	}
	return true
}

func (c *counters) add(key string, n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sums[key] += n
}

func (c *counters) sum(key string) (sum uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok = c.sums[key]
	return sum, ok
}

// show answers with the value of a counter.
func (c *counters) show(r call) (content, error) {
	key, err := requireKey(r.parameter())
	if err != nil {
		return content{}, err
	}
	sum, ok := c.sum(key)
	if !ok {
		return content{}, refusef(http.StatusNotFound, "no such counter; POST makes it")
	}
	return encodeCounter(key, sum)
}

// count runs a loop whose workers each add their iterations to a counter. The
// key is reserved before it, so that no loop is run for a refusal.
func (c *counters) count(r call) (content, error) {
	key, err := requireKey(r.parameter())
	if err != nil {
		return content{}, err
	}
	n, err := number(r.query("n"), 1, maxLoop)
	if err != nil {
		return content{}, err
	}
	if !c.reserve(key) {
		return content{}, refusef(http.StatusConflict, "there are %d counters already; count with one of those", maxKeys)
	}
	c.loops.run(n, func(iterations uint64) { c.add(key, iterations) })
	sum, _ := c.sum(key)
	return encodeCounter(key, sum)
}

func encodeCounter(key string, sum uint64) (content, error) {
	return encode(struct {
		Key   string `json:"key"`
		Value uint64 `json:"value"`
	}{key, sum})
}

// requireKey refuses what is no key of a counter.
func requireKey(key string) (string, error) {
	if !isKey(key) {
		return "", refusef(http.StatusBadRequest, "a counter's key must be 1 to %d letters, digits, _ or -", maxKey)
	}
	return key, nil
}

func isKey(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '-':
		default:
			return false
		}
	}
	return 1 <= len(s) && len(s) <= maxKey
}
