package golang

// maxPrime is the largest n that GET /isPrime/{n} takes. At 1.5 to 4.5 ns a
// division one request costs seconds of CPU at most, not hours.
const maxPrime = 1_000_000_000

// isPrime reports whether n is prime, naively: it divides by every i from 2 below
// n and never stops at the first divisor. Its cost is therefore n-2 divisions
// of 64 bits whatever n is, which is what an experiment on CPU limits wants of
// a request. The result depends on every remainder, so no compiler may leave a
// division out.
func isPrime(n uint64) bool {
	prime := n >= 2
	for i := uint64(2); i < n; i++ {
		if n%i == 0 {
			prime = false
		}
	}
	return prime
}

// answerPrime does not watch for the client's end: a client that hangs up
// does not get its CPU time back, as in any handler that only computes.
func answerPrime(c call) (content, error) {
	n, err := number(c.parameter(), 0, maxPrime)
	if err != nil {
		return content{}, err
	}
	return encode(struct {
		N     uint64 `json:"n"`
		Prime bool   `json:"prime"`
	}{n, isPrime(n)})
}
