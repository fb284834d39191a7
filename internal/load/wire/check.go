package wire

import (
	"fmt"

	"github.com/millicore/millicore/internal/data/signals"
)

// Check defines which answers are good.
type Check struct {
	Status   []int  // the accepted codes; none: 200 to 299
	Contains string // a text that the body must contain
}

// Checked is a compiled check.
type Checked struct {
	wanted [1000]bool
	named  bool // Status was set
	needle *Needle
}

// Compile validates and compiles the check. An answer without a body, such as one to
// HEAD, fails a check for a text.
func (c Check) Compile() (*Checked, error) {
	k := &Checked{needle: NewNeedle(c.Contains), named: len(c.Status) > 0}
	for _, code := range c.Status {
		if code < 200 || code > 599 && (code <= signals.FirstCall || code >= signals.FirstCall+len(signals.Codes)) {
			return nil, fmt.Errorf("check: %d is not a valid status; want 200 to 599", code)
		}
		k.wanted[code] = true
	}
	for code := 200; !k.named && code < 300; code++ {
		k.wanted[code] = true
	}
	return k, nil
}

// Needle is the text to search for in the body; nil if there is none.
func (k *Checked) Needle() *Needle { return k.needle }

// Wants reports whether a status is accepted.
func (k *Checked) Wants(status int) bool { return k.wanted[status] }
