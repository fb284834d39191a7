package analysis

import "slices"

// skippedFlag is the flag of a cell whose service could not be had.
const skippedFlag = "skipped"

// Skipped reports whether the cell's service could not be had where the record
// was made: nothing of it was tried.
func (c *CellSummary) Skipped() bool { return slices.Contains(c.Flags, skippedFlag) }

// Skip tells that a service could not be had where the record was made, and so
// has no trials; reason is in words, with what to install. It is called before
// Summarize.
func (b *Builder) Skip(service, reason string) {
	for _, c := range b.cells {
		if c.plan.Service.Name == service {
			c.skipped = reason
		}
	}
}

// skips tells of each service that was skipped, once for all its cells.
func (b *Builder) skips() []Finding {
	var all []Finding
	var told []string
	for _, c := range b.cells {
		name := c.plan.Service.Name
		if c.skipped == "" || slices.Contains(told, name) {
			continue
		}
		told = append(told, name)
		all = append(all, Finding{Level: "warning", Title: "service " + name + " was skipped", Text: c.skipped})
	}
	return all
}
