package causes

import "github.com/millicore/millicore/internal/analysis/summary"

// MainShare is the share of the slow tail from which a cause explains most of it.
const MainShare = 0.5

// GeneratorsTail reports whether most of the time of the slow tail is the generator's
// own delay, or a queue that it caused. The tail then says nothing about the service. A
// tail of too few requests for shares shows that only if the generator was late by what
// matters: a process that slept for a second may wake up 1 ms late, which is most of the
// latency of a fast service.
func GeneratorsTail(c *summary.Cell) bool {
	return c.Causes != nil && c.Causes.OfGenerator() >= MainShare &&
		(c.Causes.Divided() || c.Generator.SentLate || c.Generator.Limited)
}
