package sums

import "github.com/millicore/millicore/internal/data/signals"

// threads sums what the scheduler knows of the threads of the replicas, each by the seconds
// that it covers.
type threads struct{ seconds, full, top, collector, awake float64 }

// coversLittle bounds the time that a reading of threads covers, in lengths of its interval:
// one that began long before has the load before.
const coversLittle = 1.5

func (t *threads) add(k *signals.Threads) {
	t.merge(threads{k.Seconds, float64(k.Full) * k.Seconds, k.Top, k.Collector, k.Awake})
}

func (t *threads) merge(o threads) {
	t.seconds += o.seconds
	t.full += o.full
	t.top += o.top
	t.collector += o.collector
	t.awake += o.awake
}

// Threads are the threads of all replicas together, on average over time. Full ones ran, or
// waited for a CPU, for 90% of it. Top is the share of the time, 0..1, in which the busiest
// thread of a replica ran or waited for a CPU.
type Threads struct {
	Seconds   float64 // in which they were read, summed over replicas; 0: they were not
	Full, Top float64
	Collector float64 // CPUs of the threads that collect garbage
	Awake     float64 // CPUs of the threads that hardly slept
}

// Threads returns how busy the threads were.
func (s *Server) Threads() Threads {
	k := s.threads
	if k.seconds == 0 {
		return Threads{}
	}
	n := max(1, s.count())
	return Threads{Seconds: k.seconds, Full: k.full / k.seconds * n, Top: k.top / k.seconds, Collector: k.collector / k.seconds * n, Awake: k.awake / k.seconds * n}
}
