package wire

import "fmt"

// Check says which answers are good.
type Check struct {
	Status   []int  // the codes wanted; none: 200 to 299
	Contains string // what the body has to contain
}

// Checked is a check that is ready for use.
type Checked struct {
	wanted [1000]bool
	named  bool // the codes were named
	needle *Needle
}

// Compile checks the check. An answer to HEAD, or of a status without a body, can
// contain nothing, and fails a check for a text.
func (c Check) Compile() (*Checked, error) {
	k := &Checked{needle: NewNeedle(c.Contains), named: len(c.Status) > 0}
	for _, code := range c.Status {
		if code < 200 || code > 599 {
			return nil, fmt.Errorf("check: %d is no status of an answer; want 200 to 599", code)
		}
		k.wanted[code] = true
	}
	for code := 200; !k.named && code < 300; code++ {
		k.wanted[code] = true
	}
	return k, nil
}

// Needle is what is to be looked for in the body; nil if nothing is.
func (k *Checked) Needle() *Needle { return k.needle }

// Wants tells whether a status is a good one.
func (k *Checked) Wants(status int) bool { return k.wanted[status] }
