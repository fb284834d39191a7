package summary

import (
	"encoding/json"
	"testing"
)

// One request that was throttled for 75% of its time says nothing about a service.
func TestATailOfFewRequestsHasNoShares(t *testing.T) {
	for requests, divided := range map[int]bool{0: true, 1: false, 6: false, 19: false, 20: true, 300: true} { // 0: not known
		c := Causes{Quantile: "p99", FromMS: 12, Requests: requests, MeanMS: 15, Generator: 0.05, Throttling: 0.75, ThrottledDirectly: 0.5, Neighbours: 0.1,
			NeighboursGenerator: 0.06, Rest: 0.1, Trials: 6, MostIn: 1, Slowest: []SlowRequest{{Trial: 1, DoneMS: 20}}}
		if c.Divided() != divided || c.OfFewTrials() != divided {
			t.Errorf("%d requests: divided %v, of few trials %v; want %v", requests, c.Divided(), c.OfFewTrials(), divided)
		}
		text, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		for _, share := range []string{"generator", "generator_queue", "throttling", "dependency", "restart", "neighbours", "rest", "throttled_directly"} {
			if v, present := got[share]; !present || (v != nil) != divided {
				t.Errorf("%d requests: %s is %v (present %v)", requests, share, v, present)
			}
		}
		if _, present := got["most_in_trials"]; present != divided {
			t.Errorf("%d requests: most_in_trials present %v", requests, present)
		}
		if got["requests"] != float64(requests) || got["from_ms"] != 12. || len(got["slowest"].([]any)) != 1 {
			t.Errorf("%d requests: %s", requests, text)
		}
	}
}
