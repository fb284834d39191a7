package schedule

import (
	"math"
	"time"
)

// Users computes how many users of one share of a closed loop are active. User k,
// counted from 0 over all shares, is active while the curve is at least k+1, and
// belongs to share k mod n.
type Users struct {
	curve         *Curve
	share, shares int
}

// NewUsers returns share i of n of a closed loop.
func NewUsers(curve *Curve, share, shares int) *Users {
	return &Users{curve: curve, share: share, shares: shares}
}

// nearly is the tolerance for rounding errors of a ramp at a whole number of users.
const nearly = 1e-9

// Active returns how many users of this share are active at t.
func (u *Users) Active(t time.Duration) int { return u.part(u.curve.At(t)) }

// Until returns how many users of this share are active just before t.
func (u *Users) Until(t time.Duration) int { return u.part(u.curve.Until(t)) }

func (u *Users) part(all float64) int {
	return sharePart(int(math.Floor(all+nearly)), u.share, u.shares)
}

// Reach returns the first time, not before from, at which at least n users of this
// share are active, and false if there is none.
func (u *Users) Reach(n int, from time.Duration) (time.Duration, bool) {
	if n <= 0 {
		return from, true
	}
	whole := float64((n-1)*u.shares + u.share + 1)
	need := whole - nearly
	if need > u.curve.peak {
		return 0, false
	}
	for i := u.curve.partAt(from); i < len(u.curve.parts); i++ {
		p := &u.curve.parts[i]
		begin := max(from, p.start)
		switch {
		case begin >= p.end:
			continue
		case p.at(begin) >= need:
			return begin, true
		case p.to >= need:
			x := (whole - p.from) / p.slope()
			at := p.start + time.Duration(math.Ceil(x*1e9))
			if at = max(at, begin); at < p.end {
				return at, true
			}
		}
	}
	return 0, false
}
