package causes

import "github.com/millicore/millicore/internal/analysis/summary"

// MainShare is the share of the slow tail from which a cause explains most of it.
const MainShare = 0.5

// GeneratorsTail reports whether most of the time of the slow tail is the generator's
// own delay, or a queue that it caused. The tail then says nothing about the service.
func GeneratorsTail(c *summary.Cell) bool {
	return c.Causes != nil && c.Causes.OfGenerator() >= MainShare
}
