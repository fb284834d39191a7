package analysis

import "slices"

// skippedFlag is the flag of a cell whose service was not available.
const skippedFlag = "skipped"

// Skipped reports whether the cell's service was not available where the record was
// made, so that no trial ran.
func (c *CellSummary) Skipped() bool { return slices.Contains(c.Flags, skippedFlag) }

// Skip declares that a service was not available where the record was made, and so has
// no trials. The reason is in words, with what to install. Call it before Summarize.
func (b *Builder) Skip(service, reason string) {
	for _, c := range b.cells {
		if c.plan.Service.Name == service {
			c.skipped = reason
		}
	}
}

// skips reports each service that was skipped, once for all its cells.
func (b *Builder) skips() []Finding {
	var all []Finding
	var reported []string
	for _, c := range b.cells {
		name := c.plan.Service.Name
		if c.skipped == "" || slices.Contains(reported, name) {
			continue
		}
		reported = append(reported, name)
		all = append(all, Finding{Level: "warning", Title: "service " + name + " was skipped", Text: c.skipped})
	}
	return all
}
